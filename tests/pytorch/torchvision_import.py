"""Import torchvision where its library does not load.

The wheel from PyPI is compiled for CUDA. With PyTorch for the CPU its library is missing, and
importing its models fails for two operators that no model here calls.
"""

import torch

_LIBRARIES = []


def define_operators_of_torchvision():
    """Define the operators that importing torchvision asks for, if its library does not load."""
    try:
        import torchvision  # noqa: F401
    except ImportError:
        return
    except RuntimeError:
        library = torch.library.Library("torchvision", "DEF")
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        _LIBRARIES.append(library)
