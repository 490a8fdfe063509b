"""Parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

from weft.base.errors import ShapeError
from weft.tensor import Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All elements of all parameters one after the other.

    >>> nn.utils.parameters_to_vector(nn.Linear(3, 2).parameters()).shape
    (8,)
    """
    first, *rest = [each.reshape(-1) for each in parameters]
    return first.cat(*rest)


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Put the elements of a vector into the parameters, in order.

    :raises ShapeError: unless there are as many as all parameters have.

    >>> layer = nn.Linear(2, 1)
    >>> nn.utils.vector_to_parameters(Tensor([1.0, 2.0, 3.0]), layer.parameters())
    >>> layer.weight.tolist(), layer.bias.tolist()
    ([[1.0, 2.0]], [3.0])
    """
    given = list(parameters)
    sizes = [each.numel() for each in given]
    if vec.shape != (sum(sizes),):
        raise ShapeError(
            "the vector does not have as many elements as the parameters",
            asked=f"a vector of {vec.shape} for {sum(sizes)} elements",
        )
    parts = vec.detach().split(sizes) if len(given) > 1 else (vec.detach(),)
    values = [
        part.reshape(each.shape).cast(each.dtype).to(each.device).clone()
        for part, each in zip(parts, given, strict=True)
    ]
    Tensor.realize(*values)
    for each, value in zip(given, values, strict=True):
        each.replace(value)
