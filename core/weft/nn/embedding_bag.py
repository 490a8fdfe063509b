"""Sums, means and maxima of the rows of a table, bag by bag."""

from __future__ import annotations

from weft.base.dtype import DType
from weft.nn import functional as F
from weft.nn.embedding import Embedding
from weft.nn.input_checks import tensor_for
from weft.nn.parameter import Parameter
from weft.tensor import Tensor


class EmbeddingBag(Embedding):
    """The sum, mean or maximum of the rows of weight (num_embeddings, embedding_dim) in each bag.

    Input integers (bags, size), or those of all bags in one row with `offsets`, the start of each
    bag; output (bags, embedding_dim). See `nn.functional.embedding_bag` for the arguments.

    >>> bags = nn.EmbeddingBag.from_pretrained(Tensor([[1.0], [2.0], [4.0]]))
    >>> bags(Tensor([0, 2, 1]), Tensor([0, 2])).tolist()
    [[2.5], [2.0]]
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(num_embeddings, embedding_dim, padding_idx, device, dtype)
        self.scale_grad_by_freq, self.mode = scale_grad_by_freq, mode
        self.include_last_offset = include_last_offset

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        include_last_offset: bool = False,
    ) -> EmbeddingBag:
        """A table with these rows, which are not trained if `freeze`."""
        rows, size = embeddings.shape
        made = cls(
            rows, size, scale_grad_by_freq, mode, include_last_offset, padding_idx,
            embeddings.device, embeddings.dtype,
        )  # fmt: skip
        made.weight = Parameter(embeddings, requires_grad=not freeze)
        return made

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, mode={self.mode!r}"

    def forward(  # type: ignore[override]
        self, indices: Tensor, offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        """(bags, embedding_dim). See the class."""
        return F.embedding_bag(
            tensor_for(self, indices), self.weight, offsets,
            scale_grad_by_freq=self.scale_grad_by_freq, mode=self.mode,
            per_sample_weights=per_sample_weights, include_last_offset=self.include_last_offset,
            padding_idx=self.padding_idx,
        )  # fmt: skip
