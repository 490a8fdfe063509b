"""Loads and stores over unrolled ranges and lanes: neighbours, rows of matrices, local arrays."""

from __future__ import annotations

from dataclasses import replace

from weft.base.dtype import DType, dtypes
from weft.base.errors import SpecError
from weft.codegen.analysis.folding import vector_of
from weft.codegen.analysis.ranges import alternative_of, loop_order, loops_of, ranges_of, values_of
from weft.codegen.thresholds import FEWEST_COLUMNS
from weft.codegen.vectorization.instances import (
    INSTANTIATED,
    UNROLLED,
    Instances,
    Ranges,
    count_of,
    is_instantiated,
    merged,
    offsets,
    strides_of,
    width_of,
)
from weft.codegen.vectorization.memory_accesses import (
    Address,
    Place,
    in_flight,
    is_run,
    loaded,
    neighbours,
    stored,
)
from weft.codegen.vectorization.register_transpose import columns_of, runs_of
from weft.codegen.vectorization.vector_addresses import Filled, Places
from weft.uop import AxisKind, Ops, UOp


class Accesses(Places):
    """The part of the expander that knows how memory is reached."""

    def load(self, node: UOp) -> Instances:
        address = self.address(node.src[0])
        filled, alternative = self.filled.get(node.src[-1]), alternative_of(node)
        if not self.wide:
            over, places = self.places(address, None, 0, filled)
            return Instances(over, None, self.load_neighbours(node, places, alternative))
        lane, step = self.lane_step(address)
        if lane is not None and step not in (1, -1):
            across = self.across(node, address, lane)
            if across is not None:
                return self.transposed(node.dtype, address, lane, across, filled)
            over, places = self.places(address, None, 0, filled)
            rest = tuple(loop for loop in over if loop is not lane)
            rows = [[places[i] for i in row] for row in self.gather(over, lane)]
            return Instances(rest, lane, [_row(row, alternative, node.dtype) for row in rows])
        width = 1 if lane is None else width_of(lane)
        shift = (width - 1) * step if step == -1 else 0
        over, places = self.places(address, lane, shift, filled)
        values = [loaded(place, alternative, node.dtype, width, step) for place in places]
        return Instances(over, lane, values)

    def across(self, node: UOp, address: Address, lane: UOp) -> UOp | None:
        """Return the unrolled range along which the address has stride 1, if it is wide enough.

        That range and the lanes are the sides of a matrix block, which is loaded by the rows that
        it has in memory.
        """
        side = width_of(lane)
        plain = address.gate is None and node.dtype is not dtypes.bool and lane in address.moving
        if not plain or side & (side - 1) or any(is_instantiated(term) for term in address.other):
            return None
        for loop, factor in address.moving.items():
            if factor == 1 and loop.arg.kind in UNROLLED:
                if width_of(loop) >= min(side, FEWEST_COLUMNS):
                    return loop
        return None

    def transposed(
        self, dtype: DType, address: Address, lane: UOp, across: UOp, filled: Filled | None
    ) -> Instances:
        """Load the rows of a matrix block. Each instance along `across` is a column of it."""
        side = width_of(lane)
        columns, most = _in_parts(width_of(across), side)
        if dtype.itemsize == 1 and address.moving[lane] == width_of(across):
            return self.deinterleaved(dtype, address, lane, across, filled)
        values: dict[int, UOp] = {}
        whole: tuple[UOp, ...] = ()
        for first in columns:  # the last one may overlap the one before it, and reads the same
            over, places = self.places(address, across, first, filled)
            rest = tuple(loop for loop in over if loop not in (lane, across))
            rows = [loaded(place, None, dtype, most, 1) for place in places]
            whole = merged([rest, (across,)])
            strides = strides_of(whole)
            starts = offsets(rest, [strides[loop] for loop in rest], 0)
            for start, picked in zip(starts, self.gather(over, lane)):
                for number, column in enumerate(columns_of([rows[i] for i in picked]), first):
                    values[start + number * strides[across]] = column
        return Instances(whole, lane, [values[number] for number in range(count_of(whole))])

    def deinterleaved(
        self, dtype: DType, address: Address, lane: UOp, across: UOp, filled: Filled | None
    ) -> Instances:
        """Load a matrix block whose rows are adjacent as one vector, and select its columns.

        Products of narrow numbers use the vector itself: see `packed_dot`.
        """
        width = width_of(across)
        over, places = self.places(address, lane, 0, filled)
        rest = tuple(loop for loop in over if loop is not across)
        firsts = self.pick(Instances(over, None, [place.at for place in places]), (*rest, across))
        by_address = {place.at: place for place in places}
        values: list[UOp] = []
        size = width_of(lane) * width
        for first in firsts[::width]:
            whole = loaded(by_address[first], None, dtype, size, 1)
            values += [whole.gep(tuple(range(k, size, width))) for k in range(width)]
        return Instances((*rest, across), lane, values)

    def load_neighbours(self, node: UOp, places: list[Place], alternative: UOp | None) -> list[UOp]:
        """Return the value at each place. The values of neighbours are lanes of one load."""
        found: dict[int, UOp] = {}
        for members in neighbours(places, self.widths.get(node.dtype, ())):
            first = places[members[0][0]]
            wide = loaded(first, alternative, node.dtype, len(members), 1)
            for lane, same in enumerate(members):
                for number in same:
                    found[number] = wide if len(members) == 1 else wide.gep(lane)
        return [found[number] for number in range(len(places))]

    def fill(self, node: UOp) -> Filled:
        """Make an array for each combination of the unrolled ranges outside, filled in one nest."""
        outside = [loop for loop in ranges_of(node) if loop.arg.kind in INSTANTIATED]
        if any(loop.arg.kind is AxisKind.VECTOR for loop in outside):
            raise SpecError(
                "the lanes of a vector would each have an array of their own",
                asked="expanding a FILL",
                because="a VECTOR range is outside of it",
            )
        over = tuple(sorted(outside, key=loop_order))
        first = node.src[0].src[0].src[0]
        arrays = [first, *(first.replace(arg=next(self.names)) for _ in range(1, count_of(over)))]
        filled = Filled(over, arrays, [])
        most = node.arg.async_width or None
        stores = [one for store in values_of(node) for one in self.store(store, filled, most)]
        rest = tuple(loop for loop in loops_of(node) if loop.arg.kind not in INSTANTIATED)
        for array in arrays:
            mine = [store for store in stores if store.src[0].src[0] is array]
            arg = replace(node.arg, values=len(mine))
            if arg.async_width:
                mine = [in_flight(store) for store in mine]
            fill = UOp(Ops.FILL, dtypes.void, (*mine, *rest), arg)
            filled.fills.append(fill)
        return filled

    def store(self, node: UOp, arrays: Filled | None, most: int | None = None) -> list[UOp]:
        """Return the stores of all instances.

        most: neighbours that are stored at once; None: as many as there are.
        """
        address = self.address(node.src[0])
        value = self.vector[node.src[1]]
        lane, step = self.lane_step(address)
        if not self.wide:
            return self.store_neighbours(address, value, arrays, most)
        scattered = lane is not None and step != 1
        if lane is None and value.lane is not None:
            raise SpecError(
                "many lanes would be stored in one place", asked="expanding a STORE",
                because="its value depends on a VECTOR range that its address does not have",
            )  # fmt: skip
        over, places = self.places(address, None if scattered else lane, 0, arrays)
        loops = tuple(loop for loop in over if loop is not lane)
        _check_over(value, loops)
        values = self.pick(value, loops)
        out: list[UOp] = []
        if not scattered:
            for place, item in zip(places, values):
                if lane is not None and value.lane is None:
                    item = item.broadcast(width_of(lane))
                out += stored(place, item)
            return out
        assert lane is not None
        rows = [[places[i] for i in row] for row in self.gather(over, lane)]
        if value.lane is not None and not is_run(rows[0]):
            transposed = _stored_transposed(address, loops, rows, values)
            if transposed:
                return transposed
        for item, row in zip(values, rows):
            if value.lane is not None and is_run(row):
                out += stored(row[0], item)
                continue
            for number, place in enumerate(row):
                part = item if value.lane is None else item.gep(number)
                out += stored(place, part)
        return out

    def store_neighbours(
        self, address: Address, value: Instances, arrays: Filled | None, most: int | None
    ) -> list[UOp]:
        """Return a store for each place. The stores to neighbours are merged to one."""
        over, places = self.places(address, None, 0, arrays)
        _check_over(value, over)
        values = self.pick(value, over)
        out: list[UOp] = []
        widths = self.widths.get(values[0].dtype, ())
        if most is not None:
            widths = tuple(width for width in widths if width <= most)
        for members in neighbours(places, widths):
            mine = [values[same[-1]] for same in members]  # the last of several in one place
            item = mine[0]
            if len(mine) > 1:
                item = vector_of(item.dtype.vec(len(mine)), tuple(mine))
            out += stored(places[members[0][0]], item)
        return out


def _stored_transposed(
    address: Address, loops: Ranges, rows: list[list[Place]], values: list[UOp]
) -> list[UOp]:
    """Return the stores of strided vectors, which are transposed in registers before.

    Each lane of all vectors must be stored to adjacent addresses; otherwise the result is empty.

    rows: of each vector, in the order of `loops`, the places of its lanes.
    """
    dtype = values[0].dtype
    if dtypes.is_bool(dtype.scalar()) or any(one.op is Ops.VECTORIZE for one in values):
        return []
    if dtype.count & (dtype.count - 1):  # halves of vectors change places
        return []
    steps = strides_of(loops)
    across = next((loop for loop in loops if address.moving.get(loop) == 1), None)
    if across is None or width_of(across) < 2:
        return []
    count, rest = width_of(across), [loop for loop in loops if loop is not across]
    parts, most = _in_parts(count, dtype.count)
    out: list[UOp] = []
    for first in offsets(tuple(rest), [steps[loop] for loop in rest], 0):
        mine = range(first, first + count * steps[across], steps[across])
        if not all(is_run([rows[i][lane] for i in mine]) for lane in range(dtype.count)):
            return []
        for part in parts:  # the last one may overlap the one before it, and stores the same again
            block = mine[part : part + most]
            for place, (vector, at) in zip(rows[block[0]], runs_of([values[i] for i in block])):
                out += stored(place, vector.gep(tuple(range(at, at + most))))
    return out


def _in_parts(count: int, most: int) -> tuple[list[int], int]:
    """Return where the parts of `count` elements begin, and their width, a power of two.

    The last part may overlap the one before it.
    """
    width = 1 << (min(count, most).bit_length() - 1)
    starts = [*range(0, count - width + 1, width), *([count - width] if count % width else [])]
    return starts, width


def _row(row: list[Place], alternative: UOp | None, dtype: DType) -> UOp:
    """Return a vector of the lanes at these places: one load if they are neighbours."""
    if is_run(row):
        return loaded(row[0], alternative, dtype, len(row), 1)
    lanes = tuple([loaded(place, alternative, dtype, 1, 0) for place in row])
    return UOp(Ops.VECTORIZE, dtype.vec(len(row)), lanes)


def _check_over(value: Instances, loops: Ranges) -> None:
    if not set(value.over) <= set(loops):
        raise SpecError(
            "many values would be stored in one place", asked="expanding a STORE",
            because="its value depends on an unrolled range that its address does not have",
        )  # fmt: skip
