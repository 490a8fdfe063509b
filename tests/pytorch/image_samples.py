"""Samples of operators of images: resizing, and sampling at the positions of a grid."""

from __future__ import annotations

from sample_table import sample

# ---- resizing: (sizes of the input, sizes of the result, factors)
_SIZES = {
    1: (((5,), (8,), None), ((6,), (3,), None), ((5,), (8,), (1.7,)), ((4,), (8,), (2.0,))),
    2: (
        ((3, 4), (6, 8), None),
        ((5, 4), (3, 7), None),
        ((5, 4), (8, 2), (1.7, 0.6)),
        ((3, 4), (6, 12), (2.0, 3.0)),
        ((3, 2), (1, 1), None),
    ),
    3: (((3, 4, 2), (5, 4, 3), None), ((2, 3, 4), (4, 3, 6), (2.0, 1.0, 1.5))),
}
_CORNERS = {
    "upsample_linear1d": 1,
    "upsample_bilinear2d": 2,
    "upsample_trilinear3d": 3,
    "upsample_bicubic2d": 2,
    "_upsample_bilinear2d_aa": 2,
    "_upsample_bicubic2d_aa": 2,
}
_WITHOUT_CORNERS = {
    **{f"upsample_nearest{axes}d": axes for axes in (1, 2, 3)},
    **{f"_upsample_nearest_exact{axes}d": axes for axes in (1, 2, 3)},
}


def _add_resizing(name, axes, corners):
    """Add samples of the operator, by sizes and by factors, and of its gradient.

    :param corners: the argument `align_corners`; nothing for an operator that has none.
    """
    for old, new, factors in _SIZES[axes]:
        each = factors or (None,) * axes
        size, by = (None, list(factors)) if factors else (list(new), None)
        sample(
            name, lambda g, o=old, n=new, f=each: (g.floats(2, 3, *o), list(n), *corners, *f)
        )  # fmt: skip
        sample(f"{name}.vec", lambda g, o=old, n=size, f=by: (g.floats(2, 3, *o), n, *corners, f))
        sample(
            f"{name}_backward",
            lambda g, o=old, n=new, f=each: (
                g.floats(2, 3, *n), list(n), [2, 3, *o], *corners, *f
            ),
        )  # fmt: skip


for _name, _axes in _WITHOUT_CORNERS.items():
    _add_resizing(_name, _axes, ())
for _name, _axes in _CORNERS.items():
    for _corners in (False, True):
        _add_resizing(_name, _axes, (_corners,))

# ---- sampling at positions
_MODES = (0, 1, 2)  # linear, nearest, cubic


def _images(g, *more):
    return (g.floats(2, 3, 4, 5), g.floats(2, 3, 2, 2, low=-1.3, high=1.3), *more)


def _volumes(g, *more):
    return (g.floats(2, 3, 4, 5, 3), g.floats(2, 3, 2, 2, 3, low=-1.3, high=1.3), *more)


for _mode in _MODES:
    for _padding in (0, 1, 2):
        for _corners in (False, True):
            _how = (_mode, _padding, _corners)
            sample("grid_sampler_2d", lambda g, h=_how: _images(g, *h))
            sample(
                "grid_sampler_2d_backward",
                lambda g, h=_how: (g.floats(2, 3, 3, 2), *_images(g, *h), [True, True]),
            )
            if _mode == 2:
                continue
            sample("grid_sampler_3d", lambda g, h=_how: _volumes(g, *h))
            sample(
                "grid_sampler_3d_backward",
                lambda g, h=_how: (g.floats(2, 3, 3, 2, 2), *_volumes(g, *h), [True, True]),
            )
sample(
    "grid_sampler_2d_backward",
    lambda g: (g.floats(2, 3, 3, 2), *_images(g, 0, 0, False), [False, True]),
)
