"""Programs of `torch.export` as modules of weft.

The module has the parameters and buffers of the exported model under their names, over the same
memory. It is called with weft Tensors, it is trained by weft's optimizers, and `weft.jit` traces
it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.utils import _pytree as pytree

from weft.base.arguments import kind_of
from weft.base.errors import ArgumentError, ShapeError
from weft.nn import Buffer, Module, Parameter
from weft.tensor import Tensor
from weft.torch.backend import decompositions
from weft.torch.errors import TorchError
from weft.torch.exchange import from_torch_tensor
from weft.torch.exported_function import ExportedFunction
from weft.torch.program import Program
from weft.torch.registry import Converter, by_name
from weft.torch.state import refuse_script

_WRITES = (
    OutputKind.BUFFER_MUTATION,
    OutputKind.USER_INPUT_MUTATION,
    OutputKind.PARAMETER_MUTATION,
)


def from_exported(
    exported: ExportedProgram, *, converters: Mapping[Any, Converter] | None = None
) -> ExportedModule:
    """Return a module of weft for an exported program.

    Dynamic shapes are kept: a call with other sizes computes with those. `module.jit()` is traced
    once for all sizes, `weft.jit(module)` once for each size.

    :param exported: what `torch.export.export(model, inputs)` returns.
    :param converters: functions for custom operators: `{torch.ops.mylib.op: function}`.
    :raises UnsupportedOperators: if operators have no converter, with all of them.
    :raises TorchError: for TorchScript. :raises ArgumentError: for other objects.

    >>> import torch, weft.torch
    >>> model = torch.nn.Linear(2, 3)
    >>> exported = torch.export.export(model, (torch.zeros(1, 2),))
    >>> imported = weft.torch.from_exported(exported)
    >>> imported(Tensor.ones(1, 2)).shape, list(imported.state_dict())
    ((1, 3), ['weight', 'bias'])
    """
    refuse_script(exported)
    if not isinstance(exported, ExportedProgram):
        raise ArgumentError(
            "this is no exported program",
            asked=f"from_exported of {kind_of(exported)}",
            try_="from_exported(torch.export.export(model, inputs)); "
            'torch.compile(model, backend="weft") for a model as it is',
        )
    return ExportedModule(exported, by_name(converters))


class ExportedModule(Module):
    """An exported program of PyTorch. `from_exported` creates it.

    Parameters of one tensor (tied weights) are one Parameter. Buffers that the model writes
    (running statistics) are written by calls.
    """

    def __init__(self, exported: ExportedProgram, converters: Mapping[str, Converter]) -> None:
        lowered = exported.run_decompositions(decompositions())
        signature = lowered.graph_signature
        self._program = Program(lowered.graph_module, converters)
        self._constants = tuple(map(from_torch_tensor, self._program.constants))
        self._in_spec: Any = lowered.call_spec.in_spec
        self._out_spec: Any = lowered.call_spec.out_spec
        self._examples = _examples(lowered)
        self._example_shapes = list(map(_example_shape, self._examples))
        output = next(n for n in lowered.graph.nodes if n.op == "output").args[0]
        self._program.set_outputs(output)
        self._inputs: tuple[tuple[Any, Any], ...] = tuple(
            (spec.kind, spec.target) for spec in signature.input_specs
        )
        user_inputs = [
            getattr(spec.arg, "name", None)
            for spec in signature.input_specs
            if spec.kind is InputKind.USER_INPUT
        ]
        self._writes: tuple[tuple[int, Any, Any], ...] = tuple(
            (place, spec.kind, spec.target
             if spec.kind is not OutputKind.USER_INPUT_MUTATION
             else user_inputs.index(str(spec.target)))
            for place, spec in enumerate(signature.output_specs)
            if spec.kind in _WRITES
        )  # fmt: skip
        self._returned = tuple(
            place
            for place, spec in enumerate(signature.output_specs)
            if spec.kind is OutputKind.USER_OUTPUT
        )
        self._stored = StoredTensors()
        self._add_state(lowered)

    def _add_state(self, lowered: ExportedProgram) -> None:
        """Create parameters and buffers in submodules, so that they have the model's names."""
        made: dict[int, Any] = {}
        stored = {**lowered.state_dict, **lowered.constants}
        trained = set(lowered.graph_signature.parameters)
        names = list(lowered.state_dict)
        for kind, target in self._inputs:
            if target is not None and kind is not InputKind.USER_INPUT and target not in names:
                names.append(target)
        for name in names:
            value = stored.get(name)
            if not isinstance(value, torch.Tensor):
                continue
            if id(value) not in made:
                tensor = from_torch_tensor(value)
                is_trained = name in trained and value.is_floating_point()
                made[id(value)] = Parameter(tensor) if is_trained else Buffer(tensor)
            if name in lowered.state_dict:
                self._stored.owners[name] = self._set(name, made[id(value)])
            else:
                self._stored.hidden[name] = made[id(value)]

    def _set(self, path: str, value: Any) -> tuple[Module, str]:
        """Set an attribute of a submodule by its path, and return the submodule and the name."""
        owner: Module = self
        *parents, name = path.split(".")
        for parent in parents:
            inner = owner.__dict__.get(parent)
            if inner is None:
                inner = Namespace()
                setattr(owner, parent, inner)
            owner = inner
        setattr(owner, name, value)
        return owner, name

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs, in the containers that the model was exported with.

        :param args, kwargs: weft Tensors, NumPy arrays or tensors of PyTorch for its tensors.

        :raises TorchError: if the arguments have another structure.
        :raises ShapeError: if a size that is not dynamic is another one.
        """
        outputs = self._evaluate(self._flat_arguments(args, kwargs))
        return pytree.tree_unflatten(outputs, self._out_spec)

    def jit(self) -> ExportedFunction:
        """Return the module as a function that is traced: later calls only launch kernels.

        One trace serves all dynamic sizes: they are variables, which kernels take as arguments.
        Where an operator needs the value of a size, each value has a trace. Results have no graph.

        >>> import torch, weft.torch
        >>> batch = torch.export.Dim("batch", min=2, max=64)
        >>> exported = torch.export.export(
        ...     torch.nn.Linear(2, 3), (torch.zeros(2, 2),), dynamic_shapes=({0: batch},)
        ... )
        >>> predict = weft.torch.from_exported(exported).jit()
        >>> [predict(Tensor.ones(size, 2)).shape for size in (2, 5, 9)]
        [(2, 3), (5, 3), (9, 3)]
        """
        return ExportedFunction(
            self._evaluate, self._examples, self._flat_arguments,
            lambda outputs: pytree.tree_unflatten(outputs, self._out_spec),
        )  # fmt: skip

    def _evaluate(self, given: Sequence[Any]) -> list[Any]:
        """Return the flat outputs for flat arguments, and write what the program writes."""
        user = iter(given)
        inputs: list[Any] = list(self._constants)
        for kind, target in self._inputs:
            inputs.append(next(user) if kind is InputKind.USER_INPUT else self._stored.find(target))
        outputs = self._program(inputs)
        for place, kind, target in self._writes:
            written = given[target] if kind is OutputKind.USER_INPUT_MUTATION else None
            stored = self._stored.find(target) if written is None else written
            stored.assign(outputs[place].detach().cast(stored.dtype))
        return [outputs[place] for place in self._returned]

    def _flat_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        expected = self._in_spec
        ordered = {key: kwargs[key] for key in _keyword_names(expected) if key in kwargs}
        ordered.update(kwargs)
        flat, structure = pytree.tree_flatten((args, ordered))
        if structure != expected:
            raise TorchError(
                "the arguments have another structure than those of the export",
                asked=f"a call with {structure}",
                because=f"the model was exported with {expected}",
            )
        flat = list(map(_as_tensor, flat))
        for each, shape in zip(flat, self._example_shapes):
            if shape is None or not isinstance(each, Tensor):
                continue
            fits = len(shape) == each.ndim and all(
                size is None or size == own for size, own in zip(shape, each.shape)
            )
            if not fits:
                raise ShapeError(
                    "an argument has another shape than that of the export",
                    asked=f"a call with a tensor of shape {tuple(each.shape)}",
                    because=f"it was exported with {_shown(shape)}",
                    try_="torch.export.export(..., dynamic_shapes=...)",
                )
        return flat


class StoredTensors:
    """Parameters, buffers and constants by the names that the exported program has for them.

    :ivar owners: where a parameter or buffer is an attribute. :ivar hidden: what has no name in the
        state: constants, and buffers that are not persistent.
    """

    def __init__(self) -> None:
        self.owners: dict[str, tuple[Module, str]] = {}
        self.hidden: dict[str, Tensor] = {}

    def find(self, name: str) -> Tensor:
        """Return the present tensor of a name."""
        if name not in self.owners:
            return self.hidden[name]
        owner, attribute = self.owners[name]
        return getattr(owner, attribute)


class Namespace(Module):
    """A submodule of an exported model: it holds parameters and buffers, and is not called."""


def _keyword_names(spec: Any) -> Sequence[str]:
    context = spec.child(1).context if hasattr(spec, "child") else spec.children_specs[1].context
    return tuple(context or ())


def _examples(lowered: ExportedProgram) -> list[Any]:
    """Return what PyTorch recorded for each input of the user."""
    placeholders = [node for node in lowered.graph.nodes if node.op == "placeholder"]
    return [
        node.meta.get("val")
        for node, spec in zip(placeholders, lowered.graph_signature.input_specs)
        if spec.kind is InputKind.USER_INPUT
    ]


def _example_shape(example: Any) -> Any:
    """Return the shape of an input: None for a dynamic size, and for what is no tensor."""
    if not isinstance(example, torch.Tensor):
        return None
    return tuple(size if isinstance(size, int) else None for size in example.shape)


def _shown(shape: Sequence[int | None]) -> str:
    return f"({', '.join('any' if size is None else str(size) for size in shape)})"


def _as_tensor(given: Any) -> Any:
    """Return arrays and tensors of PyTorch as weft Tensors, other arguments as they are."""
    if isinstance(given, torch.Tensor):
        return from_torch_tensor(given)
    return Tensor(given) if isinstance(given, np.ndarray) else given
