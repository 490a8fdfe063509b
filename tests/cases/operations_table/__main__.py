"""`python -m cases.operations_table`, in the folder `tests`: see `table`."""

import sys

from cases.operations_table.table import main

sys.exit(main())
