"""Tools around modules: gradients within bounds, parameters as one vector, parametrizations,
sequences of several lengths: PyTorch's `nn.utils`."""

from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from weft.nn.input_checks import missing_name
from weft.nn.optim.clip import (
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)  # fmt: skip
from weft.nn.suggested_names import UTILITIES
from weft.nn.utils import parametrizations, parametrize, rnn, stateless
from weft.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters
from weft.nn.utils.fusion import (
    fuse_conv_bn_eval,
    fuse_conv_bn_weights,
    fuse_linear_bn_eval,
    fuse_linear_bn_weights,
)  # fmt: skip
from weft.nn.utils.spectral_normalization import remove_spectral_norm, spectral_norm
from weft.nn.utils.weight_normalization import remove_weight_norm, weight_norm

__all__ = [
    "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "fuse_conv_bn_eval",
    "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights", "get_total_norm",
    "parameters_to_vector", "parametrizations", "parametrize", "remove_spectral_norm",
    "remove_weight_norm", "rnn", "skip_init", "spectral_norm", "stateless",
    "vector_to_parameters", "weight_norm",
]  # fmt: skip

Made = TypeVar("Made")


def skip_init(module_cls: type[Made], *args: Any, **kwargs: Any) -> Made:
    """`module_cls(*args, **kwargs)`. Initial values are drawn when they are read, so that those
    which are replaced first cost nothing.

    >>> nn.utils.skip_init(nn.Linear, 3, 2)
    Linear(in_features=3, out_features=2, bias=True)
    """
    return module_cls(*args, **kwargs)


if not TYPE_CHECKING:  # a checker reports a name that is not there

    def __getattr__(name: str) -> NoReturn:
        raise missing_name("weft.nn.utils", name, __all__, UTILITIES)
