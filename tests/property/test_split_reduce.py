"""Reduces in one step and in two: the same results."""

from hypothesis import given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from helpers.example_counts import examples
from weft import Tensor
from weft.base.settings import settings


@hypothesis(max_examples=examples(30))
@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=3),
    st.sampled_from(["sum", "max", "min", "prod", "any"]),
    st.data(),
)
def test_splitting_changes_no_result(shape, kind, data):
    axes = data.draw(st.sets(st.integers(0, len(shape) - 1), min_size=1))
    order = data.draw(st.permutations(range(len(shape))))

    def result():
        count = 1
        for extent in shape:
            count *= extent
        x = (Tensor.arange(count, device="REF:grid") * 7 % 31 - 5).reshape(shape).contiguous()
        moved = x.realize().permute(order) + 1
        return getattr(moved if kind != "any" else moved > 24, kind)(tuple(sorted(axes))).tolist()

    with settings.override(REDUCEOP_SPLIT_THRESHOLD=8):
        with settings.override(SPLIT_REDUCEOP=0):
            whole = result()
        assert result() == whole
