"""Fusion merging: make one fusion candidate of two, where that is legal and profitable.

See `kernel_fusion` for the kinds of fusion.

in:  drafts of two groups
out: the draft of both as one, None where they stay separate

Source: Kennedy and McKinley, "Maximizing Loop Parallelism and Improving Data Locality via Loop
Fusion and Distribution", LCPC 1993.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import Any, TypeAlias

from weft.base.dtype import ImageDType
from weft.base.sequences import prod
from weft.schedule.context import ScheduleContext
from weft.schedule.fusion_analysis import Facts, RootKernels, loop_shape
from weft.schedule.fusion_candidates import Candidate, Group, sequential_group
from weft.schedule.fusion_legality import (
    aligned_shape,
    have_small_operands,
    is_strided,
    iterations_of,
    overwrites_needed_element,
    products_in,
    reads_incomplete_scatter,
    reduce_extent,
)
from weft.schedule.row_buffers import RowBufferPlan, outer_shape, plan_row_buffers, with_outer_axes
from weft.schedule.row_dependence import Allowed, both
from weft.schedule.use_def import Uses
from weft.uop import Ops, UOp

# operations of a kernel, beyond which its source takes too long to compile
_MOST_NODES = 160
# buffers of a kernel with several members, on devices without a limit
_MOST_BUFFERS = 24
# Iterations of a matrix product beyond which it is not computed row by row on a launch grid: one
# work item would compute alone what many compute together.
_SMALL_PRODUCT = 1 << 19
# executed operations of a kernel with several members, relative to each value computed once
_MOST_REPEATED = 1.25
# elements that fit in the caches, so that the order of accesses does not matter
_IN_CACHES = 1 << 15
# operations from which on a kernel is spread over threads
_SINGLE_THREAD = 1 << 18
# iterations up to which products of many small matrices are computed in one kernel
_SMALL_MATRICES = 1 << 25

_Loops: TypeAlias = tuple[list[Facts], Allowed, int, bool, list[UOp]]
"""Of two candidates with a common loop: the facts, the allowed numbers of rows, the chosen one,
whether all loops are equal, and the stored members."""


class Merging:
    """The legal and profitable fusions of the kernels of one graph.

    is_last_phase: whether candidates without a common loop may be fused. deferred: pairs that were
    rejected before the last phase.
    """

    def __init__(self, uses: Uses, roots: RootKernels, ctx: ScheduleContext) -> None:
        self.uses, self.roots, self.ctx = uses, roots, ctx
        self.is_last_phase = False
        self.deferred: set[tuple[Candidate, Candidate, UOp | None]] = set()
        self.small_operand_products: dict[tuple[UOp, int], bool] = {}
        self.parts: dict[Candidate, Group] = {}
        # cached, since candidates that share several buffers are compared for each
        self._loops: dict[tuple[Candidate, Candidate, bool, bool], _Loops | None] = {}
        self._products: dict[tuple[Candidate, Candidate], Candidate | None] = {}

    def single(self, known: Facts) -> Candidate:
        """The candidate of one kernel."""
        device = known.root.device
        whole = isinstance(device, str) and self.ctx.computes(device)
        # a fused value loses its storage format
        whole = whole and not isinstance(known.root.dtype, ImageDType)
        if known.root.op is Ops.ASSIGN and isinstance(device, str):
            # a copy from another device directly into memory is no kernel
            whole = whole and all(base.device == device for base in known.reads)
        allowed: Allowed = known.rows if whole else frozenset()
        apart = bool(known.scatter_ops) or known.packed
        if apart and allowed and not self.ctx.has_grid(str(device)):
            allowed &= {known.size}  # only with kernels over the same elements
        return Candidate([known], allowed, device if whole else None)

    def merged(self, a: Candidate, b: Candidate, shared: UOp | None) -> Candidate | None:
        """Two candidates as one: producer and consumer, or siblings that read the memory
        `shared`."""
        merged = self._merged_over_rows(a, b, shared)
        if merged is not None or shared is None:
            return merged
        if (a, b) not in self._products:
            self._products[a, b] = self._merged_with_product(a, b) or self.batched_products(a, b)
        return self._products[a, b]

    def _merged_over_rows(self, a: Candidate, b: Candidate, shared: UOp | None) -> Candidate | None:
        """Two candidates that share a loop over rows."""
        key = (a, b, shared is not None, self.is_last_phase)
        if key not in self._loops:
            self._loops[key] = self._loops_in_common(a, b, shared)
        loops = self._loops[key]
        if loops is None:
            return None
        facts, allowed, rows, equal_loops, stored = loops
        if shared is not None and not self._is_profitable(a, b, shared, rows, equal_loops):
            return None
        if equal_loops:
            return Candidate(facts, allowed, a.device)
        members = [known.root for known in facts]
        kept = self._row_buffers(members, stored, rows, a.device)
        return None if kept is None else Candidate(facts, allowed, a.device, row_plan=kept)

    def _loops_in_common(self, a: Candidate, b: Candidate, shared: UOp | None) -> _Loops | None:
        """The common loops of two candidates; None where there are none."""
        if a.device is None or a.device != b.device:
            return None
        facts = self._facts_in_order(a, b)
        if sum(known.nodes for known in facts) > _MOST_NODES:
            return None
        allowed = both(both(a.allowed, b.allowed), self._allowed_reads(a, b))
        if not allowed:
            return None
        rows = max(allowed)
        equal_loops = all(known.size == rows for known in facts)
        apart = rows == 1 and not equal_loops
        if apart and (shared is not None or not self._can_run_in_sequence(a, b)):
            self.deferred.add((a, b, shared))
            return None
        if not self.ctx.has_grid(a.device) and reads_incomplete_scatter(facts):
            return None
        stored = self._stored([known.root for known in facts])
        if not self._has_few_buffers(facts, a.device, stored):
            return None
        if not self._keeps_blocking(facts, rows, equal_loops) or overwrites_needed_element(facts):
            return None
        return facts, allowed, rows, equal_loops, stored

    def _facts_in_order(self, a: Candidate, b: Candidate) -> list[Facts]:
        """The kernels of two candidates in their order."""
        return sorted((*a.facts, *b.facts), key=lambda known: self.roots.number[known.root])

    def _allowed_reads(self, a: Candidate, b: Candidate) -> Allowed:
        """The numbers of rows for which all reads between two candidates stay in their row."""
        allowed: Allowed = None
        for one, other in ((a, b), (b, a)):
            theirs = {known.root: known for known in one.facts}
            versions = {
                known.root.src[0].base: known for known in one.facts if known.root.op is Ops.ASSIGN
            }
            for known in other.facts:
                for base, read in known.reads.items():
                    if base in theirs:
                        whole = base.op is not Ops.ASSIGN or base.arg is None
                        allowed = both(allowed, read if whole else frozenset())
                    if base in versions:
                        # the old value is read exactly where the new one is written, or not at all
                        whole = versions[base].root.arg is None
                        here: Allowed = frozenset((prod(base.shape),)) if whole else frozenset()
                        allowed = both(allowed, both(read, here))
                root = known.root
                if root.op is Ops.ASSIGN and root.src[0].base in theirs:
                    return frozenset()  # two versions of one memory
        return allowed

    def _is_profitable(
        self, a: Candidate, b: Candidate, shared: UOp, rows: int, equal_loops: bool
    ) -> bool:
        """Whether siblings gain: they load shared memory once."""
        if any(known.tiled for draft in (a, b) for known in draft.facts):
            return False
        loops = [frozenset[Any]().union(*(k.reduces for k in draft.facts)) for draft in (a, b)]
        if equal_loops and loops[0] == loops[1] and (loops[0] or self._has_same_inputs(a, b)):
            return True
        if not equal_loops and rows == 1:
            return False
        return all(
            (read := known.reads[shared]) is None or rows in read
            for draft in (a, b)
            for known in draft.facts
            if shared in known.reads
        )

    def _has_same_inputs(self, a: Candidate, b: Candidate) -> bool:
        """Whether two candidates read the same inputs, more than one."""
        one, other = ({base for k in draft.facts for base in k.reads} for draft in (a, b))
        return one == other and len(one) > 1

    def _can_run_in_sequence(self, a: Candidate, b: Candidate) -> bool:
        """Whether two candidates without a common loop may run in sequence: in the last phase, on
        one processor, if the first is small beside its consumer."""
        if not self.is_last_phase or self.ctx.has_grid(str(a.device)):
            return False
        work = [draft.work for draft in (a, b)]
        if self._needs_threads(a, b):
            return False
        return min(work) * 8 <= max(work) and self._reads_sequentially(a, b)

    def _needs_threads(self, a: Candidate, b: Candidate) -> bool:
        """Whether one of two candidates is spread over threads, which need one loop around
        everything."""
        device = str(a.device)
        shared = self.ctx.is_parallel(device) and not self.ctx.has_grid(device)
        return shared and max(a.work, b.work) > _SINGLE_THREAD

    def _reads_sequentially(self, a: Candidate, b: Candidate) -> bool:
        """Whether no reduce of one candidate is computed at its reader across the order of
        memory."""
        theirs = {known.root: known for draft in (a, b) for known in draft.facts}
        return all(
            not (known.reduces and sum(map(iterations_of, known.reduces)) > _IN_CACHES)
            or not any(is_strided(use.source, base) for use in self.uses.of[base])
            for base, known in theirs.items()
        )

    def _merged_with_product(self, a: Candidate, b: Candidate) -> Candidate | None:
        """A matrix product and a sum over the same loops, such as the gradients of a weight and of
        its bias. The sum is computed beside the blocks."""
        if a.device is None or a.device != b.device or a.shapes or b.shapes:
            return None
        if self._needs_threads(a, b):
            return None
        (product, others) = (a, b) if a.facts[0].tiled else (b, a)
        large, size = product.facts[0], others.facts[0].size
        if not isinstance(size, int) or not isinstance(large.size, int):
            return None  # symbolic
        if len(product.facts) != 1 or not large.tiled or not 1 < size < large.size:
            return None
        if any(k.tiled or k.size != size or not k.rows for k in others.facts):
            return None
        extents = {reduce_extent(reduce) for known in others.facts for reduce in known.reduces}
        if not large.rows or {reduce_extent(reduce) for reduce in large.reduces} != extents:
            return None
        if self._allowed_reads(a, b) is not None or size not in (others.allowed or ()):
            return None
        facts = self._facts_in_order(a, b)
        if not self._has_few_buffers(facts, a.device):
            return None
        shapes = {known.root: aligned_shape(known.shape, large.shape) for known in others.facts}
        if None in shapes.values():
            return None
        return Candidate(facts, frozenset(), a.device, {n: s for n, s in shapes.items() if s})

    def batched_products(self, a: Candidate, b: Candidate) -> Candidate | None:
        """Two products of small matrices over one batch: each has its blocks, one matrix after the
        other, where a kernel runs on one processor."""
        if len(a.facts) != 1 or len(b.facts) != 1 or a.device != b.device or a.device is None:
            return None
        facts = self._facts_in_order(a, b)
        if self.ctx.has_grid(a.device) or self._allowed_reads(a, b) is not None:
            return None
        common = both(a.allowed, b.allowed) or frozenset()
        batch = gcd(*(known.batch for known in facts))
        if batch < 2 or batch not in common or not all(known.tiled for known in facts):
            return None
        if max(iterations_of(r) for known in facts for r in known.reduces) > _SMALL_MATRICES:
            return None
        if not self._has_few_buffers(facts, a.device, [known.root for known in facts]):
            return None
        return Candidate(facts, frozenset((batch,)), a.device)

    def merged_in_sequence(self, a: Candidate, b: Candidate) -> Candidate | None:
        """Two independent candidates in one kernel, each in its own loops: where both together are
        too small for threads, this saves a launch.

        Equal kernels stay separate: they are compiled once and launched several times.
        """
        if a.device is None or a.device != b.device or self._allowed_reads(a, b) is not None:
            return None
        if not (a.allowed and b.allowed) or a.work + b.work > _SINGLE_THREAD:
            return None
        facts = self._facts_in_order(a, b)
        if sum(known.nodes for known in facts) > _MOST_NODES:
            return None
        if not self._has_few_buffers(facts, a.device):
            return None
        parts, others = a.parts or (a,), b.parts or (b,)
        if not {part.signature for part in parts}.isdisjoint(part.signature for part in others):
            return None
        kernels = [self._part(part) for part in (*parts, *others)]
        if not self._have_separate_rows(kernels):
            return None
        return Candidate(facts, frozenset((1,)), a.device, parts=(*parts, *others))

    def _have_separate_rows(self, kernels: Sequence[Group]) -> bool:
        """Whether at most one of these keeps rows in local arrays and no other computes the same
        rows, which it would read in foreign loops."""
        keeping = [kernel for kernel in kernels if kernel.outer or kernel.kept]
        if len(keeping) != 1:
            return not keeping
        aside = {m for kernel in kernels if kernel is not keeping[0] for m in kernel.members}
        computed = UOp(Ops.SINK, src=tuple(aside)).toposort(
            gate=lambda u: u in aside or u not in self.roots.memory
        )
        return not any(node in computed for node in keeping[0].kept)

    def _keeps_blocking(self, facts: Sequence[Facts], rows: int, equal_loops: bool) -> bool:
        """Whether the matrix products of a candidate are computed as well as alone.

        With equal loops one product is, next to members without reduces. Row by row, products are
        that read little besides their rows.
        """
        if equal_loops:
            summed = sum(bool(known.reduces) for known in facts)
            return summed < 2 or not any(known.tiled for known in facts)
        wide = self.ctx.has_grid(str(facts[0].root.device))
        for known in facts:
            if not known.tiled:
                continue
            if known.size == rows or not self._products_have_small_operands(known.root, rows):
                return False
            if wide and max(map(iterations_of, known.reduces)) > _SMALL_PRODUCT:
                return False
        return True

    def _products_have_small_operands(self, root: UOp, rows: int) -> bool:
        """Whether the matrix products in a kernel read little besides so many rows."""
        if (found := self.small_operand_products.get((root, rows))) is None:
            below = products_in(root, self.roots.memory.__contains__)
            found = self.small_operand_products[root, rows] = have_small_operands(below, rows)
        return found

    def _stored(self, members: Sequence[UOp]) -> list[UOp]:
        """The members whose values leave their kernel."""
        inside = {self.roots.number[member] for member in members}
        return [
            member
            for member in members
            if member in self.uses.sinks
            or member.op is Ops.ASSIGN
            or member in self.roots.writer  # a copy that was made to be written
            or any(reader not in inside for reader in self.roots.readers.get(member, ()))
            or not self.roots.readers.get(member)
        ]

    def _has_few_buffers(
        self, facts: Sequence[Facts], device: str, stored: Sequence[UOp] | None = None
    ) -> bool:
        """Whether one kernel may touch the buffers of all these."""
        members = {known.root for known in facts}
        if stored is None:
            stored = self._stored([known.root for known in facts])
        read = {base for known in facts for base in known.reads if base not in members}
        written = {root.src[0].base if root.op is Ops.ASSIGN else root for root in stored}
        most = self.ctx.max_buffers(device) or _MOST_BUFFERS
        return len(read | written) <= min(most, _MOST_BUFFERS)

    def _row_buffers(
        self, members: Sequence[UOp], stored: Sequence[UOp], rows: int, device: str | None
    ) -> RowBufferPlan | None:
        """The rows to keep in local arrays, if they fit."""
        most = self.ctx.row_bytes(device) if device is not None else 0
        return plan_row_buffers(
            members, frozenset(stored), rows, most, self.roots.memory.__contains__
        )

    def group(self, draft: Candidate) -> Group:
        """The kernel of a candidate: its outputs, its loops, its local rows."""
        members = draft.members
        stored = self._stored(members)
        if draft.parts:
            return sequential_group(members, stored, [self._part(part) for part in draft.parts])
        group = Group(members, stored, {n: s for n, s in draft.shapes.items() if n in stored})
        if len(members) == 1 or draft.shapes or not draft.allowed:
            return group
        rows = max(draft.allowed)
        kept = draft.row_plan
        if kept is None and any(known.size != rows for known in draft.facts):
            kept = self._row_buffers(members, stored, rows, draft.device)
        group.kept = [] if kept is None else kept.nodes(_MOST_REPEATED)
        own = {node: loop_shape(node) for node in group.stored}
        own.update((node, tuple(node.shape)) for node in group.kept)
        if group.kept or len(set(own.values())) > 1:
            group.outer = outer_shape(own.values(), rows)
            group.shapes = {
                node: with_outer_axes(shape, group.outer) for node, shape in own.items()
            }
        return group

    def _part(self, draft: Candidate) -> Group:
        """The kernel of one of several parts, made once."""
        if (found := self.parts.get(draft)) is None:
            found = self.parts[draft] = self.group(draft)
        return found
