"""A table of vectors, looked up by number."""

from __future__ import annotations

from weft.base.arguments import whole
from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError, DTypeError
from weft.nn import init
from weft.nn.input_checks import tensor_for
from weft.nn.module import Layer
from weft.nn.parameter import Parameter, parameter
from weft.tensor import Tensor
from weft.tensor.ops.index_bounds import check_index
from weft.tensor.tracing_cache import traced_once


class Embedding(Layer):
    """Row `i` of weight (num_embeddings, embedding_dim) for every integer `i` of the input.

    Input integers of any shape (...), output (..., embedding_dim). The row `padding_idx`, counted
    from the end if negative, starts as zeros and is never trained: no gradient reaches it. Raises
    DTypeError for inputs that are no integers, ArgumentError for a padding_idx that is no row,
    IndexingError for an input that numbers no row, negative ones included, where that is known.

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
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        weight = init.glorot_uniform(num_embeddings, embedding_dim, device=device, dtype=dtype)
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
            weight = (rows != self.padding_idx).where(weight, 0)
        self.weight: Tensor = parameter(weight)

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None
    ) -> Embedding:
        """A table with these rows, which are not trained if `freeze`.

        >>> nn.Embedding.from_pretrained(Tensor([[1.0, 2.0], [3.0, 4.0]]))(Tensor([1])).tolist()
        [[3.0, 4.0]]
        """
        rows, size = embeddings.shape
        made = cls(rows, size, padding_idx, device=embeddings.device, dtype=embeddings.dtype)
        made.weight = Parameter(embeddings, requires_grad=not freeze)
        return made

    def extra_repr(self) -> str:
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"

    def forward(self, indices: Tensor) -> Tensor:
        """(..., embedding_dim) for integers (...). See the class."""
        return look_up(tensor_for(self, indices), self.weight, self.padding_idx)


def look_up(indices: Tensor, weight: Tensor, padding_idx: int | None) -> Tensor:
    """weight[indices]; no gradient reaches the row `padding_idx`.

    :raises IndexingError: for what numbers no row, where that is known.
    """
    if not dtypes.is_int(indices.dtype):
        raise DTypeError(
            "an embedding is looked up by integers",
            asked=f"look up {indices.dtype} values of shape {indices.shape}",
            because="only integers number the rows of a table",
            try_="cast the indices to dtypes.int first",
        )
    check_index(indices, weight.shape[0], 0, weight.shape, from_end=False)
    return rows_of(indices, weight, padding_idx)


@traced_once
def rows_of(indices: Tensor, weight: Tensor, padding_idx: int | None) -> Tensor:
    """weight[indices] of valid indices; no gradient reaches the row `padding_idx`."""
    found = weight[indices]
    if padding_idx is None:
        return found
    padding = (indices == padding_idx).unsqueeze(-1)
    return padding.where(found.detach(), found)
