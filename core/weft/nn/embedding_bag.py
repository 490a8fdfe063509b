"""Sums, means and maxima of the rows of a table, bag by bag."""

from __future__ import annotations

from weft.base.dtype import DType
from weft.nn import functional as F
from weft.nn.embedding import Embedding
from weft.nn.input_checks import tensor_for
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
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(
            num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq,
            sparse, _weight, device=device, dtype=dtype,
        )  # fmt: skip
        self.mode, self.include_last_offset = mode, include_last_offset

    @classmethod
    def from_pretrained(  # type: ignore[override]
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """A table with these rows, which are not trained if `freeze`."""
        rows, size = embeddings.shape
        made = cls(
            rows, size, max_norm, norm_type, scale_grad_by_freq, mode, sparse, embeddings,
            include_last_offset, padding_idx,
        )  # fmt: skip
        made.weight.requires_grad_(not freeze)
        return made

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, mode={self.mode!r}"

    def forward(  # type: ignore[override]
        self, input: Tensor, offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        """(bags, embedding_dim). See the class."""
        return F.embedding_bag(
            tensor_for(self, input), self.weight, offsets, self.max_norm, self.norm_type,
            scale_grad_by_freq=self.scale_grad_by_freq, mode=self.mode,
            per_sample_weights=per_sample_weights, include_last_offset=self.include_last_offset,
            padding_idx=self.padding_idx,
        )  # fmt: skip
