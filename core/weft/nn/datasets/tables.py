"""Tables that scikit-learn ships, where it is installed: nothing is downloaded.

Sources and licences are in scikit-learn's own descriptions (`Table.description`).
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft.base.errors import FileError

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Table:
    """Rows of features with what is to be predicted of them.

    x: (rows, features), float32. y: (rows,), int32 class numbers, or float32 for a regression.
    features, classes: the names; classes is empty for a regression.
    """

    name: str
    x: np.ndarray
    y: np.ndarray
    features: tuple[str, ...]
    classes: tuple[str, ...]
    description: str

    def __len__(self) -> int:
        return len(self.y)

    def __repr__(self) -> str:
        return f"Table({self.name!r}, x={self.x.shape}, y={self.y.shape}, classes={self.classes})"


def load_iris() -> Table:
    """150 flowers of 3 species with 4 measures (R. A. Fisher, 1936).

    :raises FileError: if scikit-learn is not installed.
    """
    return _table("iris")


def load_wine() -> Table:
    """178 wines of 3 growers with 13 measures (UCI, 1991). Raises as `load_iris`."""
    return _table("wine")


def load_breast_cancer() -> Table:
    """569 tumours, malignant or benign, with 30 measures (UCI, 1995). Raises as `load_iris`."""
    return _table("breast_cancer")


def load_diabetes() -> Table:
    """442 patients with 10 measures, and the progression of the disease after a year: a regression
    (Efron and others, 2004). Raises as `load_iris`."""
    return _table("diabetes")


def _table(name: str) -> Table:
    import numpy as np

    try:
        loaders = importlib.import_module("sklearn.datasets")
    except ImportError as error:
        raise FileError(
            "this data set comes with scikit-learn, which is not installed",
            asked=f"nn.datasets.load_{name}()",
            because=str(error),
            try_="pip install scikit-learn; or nn.datasets.load_digits(), which comes with weft",
        ) from error
    found = getattr(loaders, f"load_{name}")()
    classes = tuple(str(each) for each in getattr(found, "target_names", ()))
    return Table(
        name=name,
        x=found.data.astype(np.float32),
        y=found.target.astype(np.int32 if classes else np.float32),
        features=tuple(found.feature_names),
        classes=classes,
        description=found.DESCR,
    )
