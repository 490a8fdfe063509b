"""``weft opt``: run named compiler passes on IR text, after LLVM's ``opt`` and MLIR's ``mlir-opt``.

    weft opt --pass one_hot_gather,loop_coalescing kernel.ir
    weft opt --pass loop_peeling --target FAMILY:ARCH kernel.ir
    weft opt --pass non_temporal_stores --compute '{"cache_bytes": 1048576}' ... kernel.ir
    weft opt --list

The text is what `weft.uop.to_text` prints: a tensor graph for passes of the scheduler, a kernel AST
or a lowered kernel for those of the code generator. Lines that begin with ``#`` are comments. The
result is printed as text again and can be the input of the next call. A linear program is printed
as a SINK over its nodes in their order. Nodes that the scheduler decides to store follow as
comments, ``# %7 realized``. A target whose plugin brings passes of its own has these as well.
``--compute`` changes capabilities of the target: fields of `ComputeCaps`, as in replay records.

Every result is verified against the specification of its stage (`weft.spec`).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, fields, replace
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

from weft.base.errors import ArgumentError, SpecError, WeftError
from weft.base.settings import settings
from weft.base.suggestions import nearest
from weft.codegen import pipeline as generator
from weft.codegen.analysis import traversal
from weft.device import Capabilities, ComputeCaps, Target, registry
from weft.schedule import ScheduleContext
from weft.schedule import pipeline as scheduler
from weft.schedule.use_def import uses_in
from weft.spec import kernel_ast, lowered, tensor
from weft.spec.check import verify
from weft.spec.passes import Pass, run_passes
from weft.testing.fakes import fake_capabilities, fake_target
from weft.tools import capabilities
from weft.uop import GroupOp, Ops, UOp, from_text, to_text

ALL_PASSES: dict[str, Pass] = {
    step.name: step for step in (*scheduler.PASSES, *generator.generic_passes())
}
"""Those of a target that brings none of its own."""
_OF_THE_SCHEDULER = frozenset(step.name for step in scheduler.PASSES)
_PREREQUISITES = {
    "group_reduces": "must_realize",
    "limit_buffers": "must_realize",
    "group_kernels": "must_realize",
    "create_kernels": "group_kernels",
}


class Stage(Enum):
    """What a graph is on its way from tensors to code."""

    TENSOR = "a tensor graph"
    KERNELS = "a graph of kernels"
    AST = "a kernel AST"
    LOWERED = "a lowered kernel"
    LINEAR = "a linear program"


_VERIFIERS: dict[Stage, Callable[[UOp], None]] = {
    Stage.TENSOR: lambda sink: verify(sink.toposort(), tensor.complaint, "tensor"),
    Stage.AST: kernel_ast.verify,
    Stage.LOWERED: lowered.verify,
}
_LEAVES = {
    "create_kernels": Stage.KERNELS,
    "lowerer": Stage.LOWERED,
    "linearization": Stage.LINEAR,
}
"""What passes leave that leave something else than they take."""
_ARITIES = (
    (GroupOp.Unary, 1),
    (GroupOp.Binary, 2),
    (GroupOp.Ternary, 3),
    (frozenset({Ops.RANGE}), 1),
)


@dataclass(frozen=True)
class Machine:
    """For what code is generated: its capabilities, and the target of the code generator."""

    capabilities: Capabilities
    target: Target


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument(
        "--pass", dest="passes", default="", metavar="NAME[,NAME...]", help="run in this order"
    )
    parser.add_argument(
        "--target", metavar="FAMILY:ARCH", help="an offline architecture; scalar code by default"
    )
    parser.add_argument(
        "--compute", metavar="JSON", help="capabilities that differ: an object of their values"
    )
    parser.add_argument("--list", action="store_true", help="print every pass, in order")
    parser.add_argument("file", nargs="?", help="IR text; - reads standard input")


def run(arguments: argparse.Namespace) -> int:
    """Print the graph that the passes leave.

    :raises ArgumentError: for an unknown pass, target or file, or an order that is not possible.
    :raises FormatError: for text that is not IR, with its line.
    :raises SpecError: for IR of another stage than the pass takes.
    """
    machine = machine_of(arguments.target)
    if arguments.compute is not None:
        machine = with_capabilities(machine, arguments.compute)
    known = known_to(machine)
    if arguments.list:
        print(listing(known), end="")
        return 0
    steps = passes_of(arguments.passes, known)
    print(optimised(from_text(_text_of(arguments.file)), steps, machine), end="")
    return 0


def known_to(machine: Machine) -> dict[str, Pass]:
    """The passes of the scheduler and of a machine's code generator, in their order, by name."""
    own = generator.passes_for(machine.target)
    return {step.name: step for step in (*scheduler.PASSES, *own)}


def listing(known: Mapping[str, Pass]) -> str:
    """Every pass in the order in which the compiler runs it, with what it does."""
    width = max(map(len, known))
    lines = [f"{step.name.ljust(width)}  {summary(step)}" for step in known.values()]
    return "\n".join(lines) + "\n"


def summary(step: Pass) -> str:
    """The first line of a pass's docstring, or of that of the module whose code it calls."""
    text = step.run.__doc__
    if not text:
        names = step.run.__globals__
        used = [names[name] for name in step.run.__code__.co_names if name in names]
        modules = [one for one in used if isinstance(one, ModuleType)]
        modules += [sys.modules[one.__module__] for one in used if hasattr(one, "__module__")]
        text = modules[0].__doc__ or ""
    return text.strip().partition("\n")[0]


def passes_of(names: str, known: Mapping[str, Pass] = ALL_PASSES) -> list[Pass]:
    """The passes of these names, separated by commas, in the order given. known: all there are.

    :raises ArgumentError: for no pass, an unknown one, or one that lacks what another computes.
    """
    listed = [name.strip() for name in names.split(",") if name.strip()]
    if not listed:
        raise ArgumentError("no pass is named", try_="--pass NAME, or --list for all names")
    for position, name in enumerate(listed):
        if name not in known:
            near = nearest(name, known)
            raise ArgumentError(
                "there is no such pass",
                asked=name,
                because="a target may have passes of its own: --target FAMILY:ARCH",
                try_=" or ".join(near) if near else "weft opt --list",
            )
        needed = _PREREQUISITES.get(name)
        if needed is not None and needed not in listed[:position]:
            raise ArgumentError(
                f"{name} uses what {needed} computes",
                asked=names,
                because="the text form of a graph does not hold the scheduler's decisions",
                try_=f"--pass {','.join([*_needed_by(name), name])}",
            )
    return [known[name] for name in listed]


def _needed_by(name: str) -> list[str]:
    needed = _PREREQUISITES.get(name)
    return [] if needed is None else [*_needed_by(needed), needed]


def machine_of(name: str | None) -> Machine:
    """The offline architecture FAMILY:ARCH; a plain scalar processor for None.

    :raises ArgumentError: for a name without two parts.
    :raises UnknownDevice: if no plugin serves the family.
    :raises CapabilityError: if it offers no such architecture.
    """
    if name is None:
        return Machine(fake_capabilities(), fake_target())
    family, colon, arch = name.partition(":")
    if not (family and colon and arch):
        raise ArgumentError(
            "a target is a family and an architecture",
            asked=name,
            try_="FAMILY:arch, as the family's plugin documents them",
        )
    device = registry.offline(family.upper(), arch)
    return Machine(device.capabilities, device.target)


def with_capabilities(machine: Machine, text: str) -> Machine:
    """A machine of which some fields of `ComputeCaps` have other values, given as a JSON object.

    :raises ArgumentError: for text that is no object, or an unknown field.
    :raises FormatError: for a value that the field cannot have.
    """
    known, kinds = {field.name for field in fields(ComputeCaps)}, get_type_hints(ComputeCaps)
    try:
        given = json.loads(text)
    except ValueError:
        given = None
    if not isinstance(given, dict) or not known.issuperset(given):
        raise ArgumentError(
            "no capabilities",
            asked=f"--compute {text}",
            because=f"a JSON object may have the fields {', '.join(sorted(known))}",
            try_="--compute '{\"cache_bytes\": 1048576}'",
        )
    values = {name: capabilities.read(kinds[name], value) for name, value in given.items()}
    compute = replace(machine.target.compute, **values)
    return Machine(
        replace(machine.capabilities, compute=compute), replace(machine.target, compute=compute)
    )


def optimised(sink: UOp, steps: Sequence[Pass], machine: Machine) -> str:
    """The text of a graph after these passes. Raises as `run`."""
    context = (
        ScheduleContext(lambda device: machine.capabilities),
        generator.context_for(machine.target),
    )
    on_ast = _passes_on_asts(machine.target)
    takes = {step: _takes(step, on_ast) for step in steps}
    stage, subject = takes[steps[0]], _checked(sink, steps[0], takes[steps[0]])
    try:
        with settings.override(SPEC=1):
            for step in steps:
                if takes[step] is not stage:
                    raise _of_another_stage(step, takes[step], stage)
                if stage is Stage.TENSOR:
                    _seed(subject)
                ours = context[step.name not in _OF_THE_SCHEDULER]
                subject = _run(step, subject, ours)
                stage = _LEAVES.get(step.name, stage)
    finally:
        traversal.clear_cache()
    return _printed(subject)


def _run(step: Pass, subject: Any, context: Any) -> Any:
    """One pass; what it raises that is no error of ours becomes one."""
    try:
        return run_passes((step,), subject, context)
    except WeftError:
        raise
    except (
        ArithmeticError,
        AssertionError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
    ) as e:
        raise SpecError(
            f"{step.name} failed on this IR",
            asked=f"--pass {step.name}",
            because=f"{type(e).__name__}: {e}",
            try_="WEFT_DEBUG=1 shows the traceback; is the arg of every node of the right kind?",
        ) from e


def _passes_on_asts(target: Target) -> frozenset[str]:
    """The passes of a code generator that come before lowering, and lowering itself."""
    names = [step.name for step in generator.passes_for(target)]
    return frozenset(names[: names.index("lowerer") + 1] if "lowerer" in names else ())


def _takes(step: Pass, on_ast: Set[str]) -> Stage:
    if step.name in _OF_THE_SCHEDULER:
        return Stage.TENSOR
    return Stage.AST if step.name in on_ast else Stage.LOWERED


def _checked(sink: UOp, step: Pass, stage: Stage) -> Any:
    """What the first pass is given: the graph, verified; for the scheduler a plan of it."""
    if (reason := _objection(sink, stage)) is not None:
        found = next((s for s in _VERIFIERS if s is not stage and not _objection(sink, s)), None)
        raise SpecError(
            f"{step.name} takes {stage.value}",
            asked=f"--pass {step.name} on " + (found.value if found else "IR of no known stage"),
            because=reason,
            try_="weft opt --list shows the order of the passes; lowerer makes a kernel AST"
            " a lowered kernel",
        )
    if stage is not Stage.TENSOR:
        return sink
    return scheduler.Plan(sink if sink.op.name == "SINK" else UOp.sink(sink))


def _seed(plan: scheduler.Plan) -> None:
    """Enter what earlier passes leave in a plan, where these did not run."""
    for node in plan.clean_sink.toposort():
        plan.cleaned.setdefault(node, node)
    plan.uses = uses_in(plan.clean_sink)


def _objection(sink: UOp, stage: Stage) -> str | None:
    """Why a graph is not of this stage; None where it is."""
    if stage is not Stage.TENSOR and sink.op.name != "SINK":
        return f"the last node is {sink.op.name}, and a kernel ends in a SINK"
    try:
        verify(sink.toposort(), _arity_objection, stage.name.lower())
        _VERIFIERS[stage](sink)
    except SpecError as error:
        return f"{error.asked}: {error.because}"
    except WeftError as error:
        return str(error)
    except (IndexError, AttributeError, TypeError, ValueError, AssertionError) as error:
        return f"a node has not the sources that its operation takes ({error})"
    return None


def _arity_objection(node: UOp) -> str | None:
    """Why a node has too few or too many sources for its operation; None where it has not."""
    for ops, count in _ARITIES:
        if node.op in ops and len(node.src) != count:
            return f"{node.op.name} takes {count} sources, and has {len(node.src)}"
    return None


def _of_another_stage(step: Pass, takes: Stage, stage: Stage) -> SpecError:
    return SpecError(
        f"{step.name} takes {takes.value}",
        asked=f"--pass {step.name} on {stage.value}",
        because=f"the pass before it leaves {stage.value}",
        try_="weft opt --list shows the order of the passes",
    )


def _printed(subject: Any) -> str:
    if isinstance(subject, UOp):
        return to_text(subject)
    if isinstance(subject, tuple):  # the linear program and its kernel's facts
        return to_text(UOp.sink(*subject[1]))
    shown = subject.picture()
    return to_text(shown.graph, shown.marks)


def _text_of(name: str | None) -> str:
    if name is None:
        raise ArgumentError("no file is named", try_="a file of IR text, or - for standard input")
    if name == "-":
        return sys.stdin.read()
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentError(
            "the file cannot be read", asked=name, because=str(error), try_="a file of IR text"
        ) from error
