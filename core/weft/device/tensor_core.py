"""Matrix units: the description of a matrix multiply-accumulate instruction. The core has no table
of chips.

A unit computes ``D[m, n] = sum over k of A[m, k] * B[k, n] + C[m, n]`` on fragments spread over the
lanes of a warp. The position of an element in a fragment is linear in the bits of the lane number
and of the element number within the lane, so one coordinate step per bit describes it.
"""

from __future__ import annotations

from weft.base.deferred_dataclass import dataclass
from weft.base.dtype import DType
from weft.base.errors import ArgumentError

Step = tuple[int, int]


@dataclass(frozen=True)
class FragmentLayout:
    """The positions of the elements of one operand.

    :param lane: for each bit of the lane number, lowest first, the (row, column) step of that bit.
    :param element: the same for each bit of the element number within its lane.
    """

    lane: tuple[Step, ...]
    element: tuple[Step, ...]

    def coordinate(self, lane: int, element: int) -> tuple[int, int]:
        """The (row, column) of one element of one lane."""
        row = column = 0
        for steps, number in ((self.lane, lane), (self.element, element)):
            for bit, (down, right) in enumerate(steps):
                if number >> bit & 1:
                    row, column = row + down, column + right
        return row, column

    def covers(self, rows: int, columns: int) -> bool:
        """Whether the layout has every (row, column) of a ``rows x columns`` fragment, and no other
        position. Several lanes may hold the same element."""
        met = {
            self.coordinate(lane, element)
            for lane in range(1 << len(self.lane))
            for element in range(1 << len(self.element))
        }
        return met == {(row, column) for row in range(rows) for column in range(columns)}


@dataclass(frozen=True)
class TensorCore:
    """One matrix unit.

    :param name: what the renderer calls it; opaque to the core.
    :param dims: ``(m, n, k)`` of one call.
    :param threads: lanes that take part in one call, a power of two.
    :param dtype_in: of A and B.
    :param dtype_out: of C and D.
    :param a: layout of A over (m, k).
    :param b: layout of B over (k, n).
    :param c: layout of C and D over (m, n).
    :param rounds: it rounds its factors to fewer bits than `dtype_in` has, and so does what it does
        only where the setting MATMUL_PRECISION lets it.
    :raises ArgumentError: if a layout does not cover its fragment.
    """

    name: str
    dims: tuple[int, int, int]
    threads: int
    dtype_in: DType
    dtype_out: DType
    a: FragmentLayout
    b: FragmentLayout
    c: FragmentLayout
    rounds: bool = False

    def __post_init__(self) -> None:
        m, n, k = self.dims
        fragments = (("a", self.a, m, k), ("b", self.b, k, n), ("c", self.c, m, n))
        for operand, layout, rows, columns in fragments:
            if 1 << len(layout.lane) != self.threads or not layout.covers(rows, columns):
                raise ArgumentError(
                    f"layout {operand} of tensor core {self.name!r} does not cover its fragment",
                    asked=f"{self.threads} lanes over {rows} x {columns}",
                    because=f"its steps are {layout}",
                    try_="one step per bit of the lane's number and of the element's number",
                )
