"""What `weft.tensor.mixin_methods` declares for type checkers is what `Tensor` has."""

import inspect
import subprocess
import sys

from weft import Tensor
from weft.tensor.mixin_methods import MixinMethods

DECLARED = {
    name: value
    for name, value in vars(MixinMethods).items()
    if not (name.startswith("__") and name.endswith("__")) or inspect.isfunction(value)
}


def test_every_declared_name_is_one_of_tensor():
    assert len(DECLARED) > 150
    assert [name for name in DECLARED if not hasattr(Tensor, name)] == []


def test_properties_are_properties():
    for name, value in DECLARED.items():
        declared, has = isinstance(value, property), inspect.getattr_static(Tensor, name)
        assert declared == isinstance(has, property), name


def test_nothing_imports_the_declarations_at_run_time():
    shown = "import sys, weft; weft.Tensor; print('weft.tensor.mixin_methods' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
