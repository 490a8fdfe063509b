"""A table of vectors, looked up by number."""

from __future__ import annotations

from weft.base.arguments import whole
from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError, DTypeError
from weft.nn import init
from weft.nn.inputs import tensor_for
from weft.tensor import Tensor


class Embedding:
    """Row `i` of weight (num_embeddings, embedding_dim) for every integer `i` of the input.

    Input integers of any shape (...), output (..., embedding_dim). The row `padding_idx`, counted
    from the end if negative, starts as zeros and is never trained: no gradient reaches it. Raises
    DTypeError for inputs that are no integers, ArgumentError for a padding_idx that is no row.

    >>> nn.Embedding(10, 4)(Tensor([[1, 2, 3]])).shape
    (1, 3, 4)
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        num_embeddings = whole(num_embeddings, "num_embeddings", least=0)
        embedding_dim = whole(embedding_dim, "embedding_dim", least=0)
        self.weight = init.glorot_uniform(num_embeddings, embedding_dim, device=device, dtype=dtype)
        self.padding_idx = padding_idx
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise ArgumentError(
                    "there is no such row to leave alone",
                    asked=f"padding_idx={padding_idx}",
                    because=f"the table has {num_embeddings} rows",
                    try_="give the number of a row",
                )
            self.padding_idx = padding_idx % num_embeddings
            rows = Tensor.arange(num_embeddings, device=device).reshape(-1, 1)
            self.weight = (rows != self.padding_idx).where(self.weight, 0)

    def __call__(self, indices: Tensor) -> Tensor:
        indices = tensor_for(self, indices)
        if not dtypes.is_int(indices.dtype):
            raise DTypeError(
                "an embedding is looked up by integers",
                asked=f"look up {indices.dtype} values of shape {indices.shape}",
                because="only integers number the rows of a table",
                try_="cast the indices to dtypes.int first",
            )
        found = self.weight[indices]
        if self.padding_idx is None:
            return found
        padding = (indices == self.padding_idx).unsqueeze(-1)
        return padding.where(found.detach(), found)
