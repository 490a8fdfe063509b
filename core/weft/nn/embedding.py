"""A table of vectors, looked up by number."""

from __future__ import annotations

from weft.base.arguments import real, whole
from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError, DTypeError, ShapeError
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

    max_norm: a call first scales the rows that it looks up and whose norm of power norm_type is
    larger down to this norm, in the weight itself. scale_grad_by_freq: the gradient of a row is
    divided by how often the input has it. `sparse` has no effect: gradients are dense.

    >>> nn.Embedding(10, 4)(Tensor([[1, 2, 3]])).shape
    (1, 3, 4)
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        num_embeddings = whole(num_embeddings, "num_embeddings", least=0)
        embedding_dim = whole(embedding_dim, "embedding_dim", least=0)
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.max_norm = None if max_norm is None else real(max_norm, "max_norm")
        self.norm_type, self.scale_grad_by_freq = real(norm_type, "norm_type"), scale_grad_by_freq
        self.sparse, self.padding_idx = sparse, padding_idx
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise ArgumentError(
                    "there is no such row to leave alone",
                    asked=f"padding_idx={padding_idx}",
                    because=f"the table has {num_embeddings} rows",
                    try_="give the number of a row",
                )
            self.padding_idx = padding_idx % num_embeddings
        self.weight: Tensor = (
            parameter(self._drawn(device, dtype))
            if _weight is None
            else Parameter(_weight, requires_grad=not _freeze)
        )
        if tuple(self.weight.shape) != (num_embeddings, embedding_dim):
            raise ShapeError(
                "the weight does not have the rows of the table",
                asked=f"_weight of {self.weight.shape}",
                because=f"the table is ({num_embeddings}, {embedding_dim})",
            )

    def _drawn(self, device: str | None, dtype: DType | None) -> Tensor:
        """Rows of a new table; that of `padding_idx` is zeros."""
        shape = (self.num_embeddings, self.embedding_dim)
        weight = init.glorot_uniform(*shape, device=device, dtype=dtype)
        if self.padding_idx is None:
            return weight
        rows = Tensor.arange(self.num_embeddings, device=device).reshape(-1, 1)
        return (rows != self.padding_idx).where(weight, 0)

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None,
        max_norm: float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:  # fmt: skip
        """A table with these rows, which are not trained if `freeze`.

        >>> nn.Embedding.from_pretrained(Tensor([[1.0, 2.0], [3.0, 4.0]]))(Tensor([1])).tolist()
        [[3.0, 4.0]]
        """
        rows, size = embeddings.shape
        return cls(
            rows, size, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse,
            embeddings, freeze,
        )  # fmt: skip

    def extra_repr(self) -> str:
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"

    def forward(self, input: Tensor) -> Tensor:
        """(..., embedding_dim) for integers (...). See the class."""
        return look_up(
            tensor_for(self, input), self.weight, self.padding_idx, self.max_norm, self.norm_type,
            self.scale_grad_by_freq,
        )  # fmt: skip


def look_up(
    indices: Tensor, weight: Tensor, padding_idx: int | None, max_norm: float | None = None,
    norm_type: float = 2.0, scale_grad_by_freq: bool = False,
) -> Tensor:  # fmt: skip
    """weight[indices]; no gradient reaches the row `padding_idx`. See Embedding for the options.

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
    if max_norm is not None:
        _limit_norms(weight, indices, max_norm, norm_type)
    rows = rows_of(indices, weight, padding_idx)
    if scale_grad_by_freq:
        counts = _frequencies(indices, weight, rows.dtype)[indices].unsqueeze(-1)
        rows = rows.detach() + (rows - rows.detach()) / counts
    return rows


def _frequencies(indices: Tensor, weight: Tensor, dtype: DType) -> Tensor:
    """How often each row is looked up: (rows,)."""
    flat = indices.reshape(-1)
    ones = Tensor.ones(flat.shape[0], dtype=dtype, device=weight.device)
    return Tensor.zeros(weight.shape[0], dtype=dtype, device=weight.device).index_add(0, flat, ones)


def _limit_norms(weight: Tensor, indices: Tensor, most: float, power: float) -> None:
    """Scale the rows that are looked up down to a norm, in place."""
    value = weight.detach()
    norms = value.norm(power, 1, keepdim=True)
    used = _frequencies(indices, value, value.dtype).unsqueeze(1) > 0
    weight.assign((used & (norms > most)).where(value * (most / (norms + 1e-7)), value))


@traced_once
def rows_of(indices: Tensor, weight: Tensor, padding_idx: int | None) -> Tensor:
    """weight[indices] of valid indices; no gradient reaches the row `padding_idx`."""
    found = weight[indices]
    if padding_idx is None:
        return found
    padding = (indices == padding_idx).unsqueeze(-1)
    return padding.where(found.detach(), found)
