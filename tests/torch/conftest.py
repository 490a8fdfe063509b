"""What tests with PyTorch need: the package itself, and torchvision without its library."""

import pytest

pytest.importorskip("torch", reason="the package torch is not installed")

import torch

_LIBRARIES = []


def define_operators_of_torchvision():
    """Define torchvision's operators where its library does not load.

    The wheel from PyPI is compiled for CUDA. With PyTorch for the CPU its library is missing, and
    importing its models fails for two operators that no model here calls.
    """
    try:
        import torchvision  # noqa: F401
    except ImportError:
        return
    except RuntimeError:
        library = torch.library.Library("torchvision", "DEF")
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        _LIBRARIES.append(library)


define_operators_of_torchvision()
