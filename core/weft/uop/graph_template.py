"""Graph template: the nodes of a graph over open operands, as rows that are quick to instantiate.
Also: straight-line program over nodes.

in:  nodes in topological order, and the number of each operand
out: the same operations over other operands

Source: A. V. Aho and others, "Compilers: Principles, Techniques, and Tools", section 6.2
(three-address code).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from weft.base.dtype import DType
from weft.uop.node import UOp, memo_slot
from weft.uop.ops import Ops

_set_meta, _set_shape, _set_device = map(memo_slot, ("meta", "_shape", "_device"))

Row = tuple[Ops, DType, Callable[[list[UOp]], Any], bool, Any, Any, Any, int]


@dataclass(frozen=True, slots=True)
class GraphTemplate:
    """Operations over numbered values: the operands, then one value for each row.

    :ivar rows: op, dtype, the getter of the sources, whether there is but one, arg, shape, device,
        the number of the provenance.
    """

    rows: tuple[Row, ...]

    @staticmethod
    def of(
        nodes: Iterable[UOp], places: Mapping[UOp, int], provenance: Callable[[UOp], int]
    ) -> GraphTemplate:
        """The template of these nodes, whose numbers and whose operands' numbers are `places`.

        provenance: the number of the provenance of a node.
        """
        rows = [
            (
                node.op,
                node.dtype,
                itemgetter(*[places[source] for source in node.src]),
                len(node.src) == 1,
                node.arg,
                node.shape,
                node.device,
                provenance(node),
            )
            for node in nodes
        ]
        return GraphTemplate(tuple(rows))

    def instantiate(
        self, operands: Sequence[UOp], provenances: Sequence[Any] | None, replace: bool = False
    ) -> list[UOp]:
        """The operands, and the nodes of all rows over them.

        provenances: what new nodes get as their provenance, by number; None: none. replace: nodes
        that exist get it too.
        """
        values = [*operands]
        append = values.append
        for op, dtype, sources, is_single, arg, shape, device, number in self.rows:
            found = sources(values)
            node = UOp(op, dtype, (found,) if is_single else found, arg)
            is_new = node.meta is None
            if is_new:  # known here: an analysis takes ten times as long
                _set_shape(node, shape)
                _set_device(node, device)
            if provenances is not None and (is_new or replace):
                _set_meta(node, provenances[number])
            append(node)
        return values
