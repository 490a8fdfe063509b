"""A table of vectors, looked up by number."""

from __future__ import annotations

from weft.base.dtype import DType, dtypes
from weft.base.errors import DTypeError
from weft.nn import init
from weft.tensor import Tensor


class Embedding:
    """Row `i` of weight (entries, features) for every integer `i` of the input.

    Input integers of any shape (...), output (..., features). Raises DTypeError for inputs that
    are no integers.
    """

    def __init__(
        self,
        entries: int,
        features: int,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        self.weight = init.glorot_uniform(entries, features, device=device, dtype=dtype)

    def __call__(self, indices: Tensor) -> Tensor:
        if not dtypes.is_int(indices.dtype):
            raise DTypeError(
                "an embedding is looked up by integers",
                asked=f"look up {indices.dtype} values of shape {indices.shape}",
                because="only integers number the rows of a table",
                try_="cast the indices to dtypes.int first",
            )
        return self.weight[indices]
