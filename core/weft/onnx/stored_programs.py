"""Stored programs: what earlier processes have recorded of a model, by the model's bytes.
Also: ahead-of-time compilation cache.

A process that finds its model here parses nothing, schedules nothing and starts no compiler: inputs
and outputs are known from the interface of the model, kernels are loaded, and weights are copied
from the model's file. The key is a digest of the model and of all that programs depend on: options,
settings, device, processor, and stamps of weft's source files. A damaged entry is a miss.

in:  the bytes of a model      out: `Interface` and `ModelProgram`

Source: ccache (a compilation is looked up by its inputs).
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weft.base.disk_cache import DiskCache
from weft.base.errors import WeftError
from weft.base.interrupts import let_through
from weft.device import Buffer
from weft.export import Memory, Program, from_bytes, store_key, to_bytes
from weft.onnx import registry as registry_of_operators
from weft.onnx.graph import ModelGraph, ValueInfo, ValueType
from weft.onnx.model_program import ModelProgram, Result
from weft.onnx.weight_places import WeightPlaces
from weft.uop import UOp, from_text, to_text

_interfaces = DiskCache("onnx_interfaces", 1)
_programs = DiskCache("onnx_programs", 2)
_MOST_BYTES = 1 << 28  # of constants that are not in the model's file
_DAMAGED = (ValueError, TypeError, KeyError, IndexError, AttributeError, WeftError)


@dataclass(frozen=True)
class Interface:
    """What a model shows without its graph.

    :ivar inputs: all inputs of the graph. :ivar defaults: the names of those that have a default.
    :ivar files: files with external data, as paths in the folder of the model.
    :ivar host_inputs: inputs whose values belong to the signatures of programs.
    """

    inputs: tuple[ValueInfo, ...]
    outputs: tuple[ValueInfo, ...]
    defaults: frozenset[str]
    opsets: Mapping[str, int]
    metadata: Mapping[str, str]
    files: tuple[str, ...] = ()
    host_inputs: tuple[str, ...] = ()

    @classmethod
    def of(cls, parsed: ModelGraph) -> Interface:
        """Return the interface of a parsed model."""
        graph = parsed.graph
        defaults = frozenset(each.name for each in graph.inputs if each.name in graph.initializers)
        return cls(
            graph.inputs, graph.outputs, defaults, parsed.opsets, parsed.metadata, parsed.files
        )

    def to_json(self) -> str:
        """Return it as text."""
        inputs, outputs = (
            [(each.name, _type_facts(each.type)) for each in values]
            for values in (self.inputs, self.outputs)
        )
        opsets, metadata = dict(self.opsets), dict(self.metadata)
        return json.dumps(
            (inputs, outputs, sorted(self.defaults), opsets, metadata, self.files, self.host_inputs)
        )

    @classmethod
    def from_json(cls, text: str | bytes) -> Interface:
        """Return the interface of a text. :raises ValueError, TypeError: if it is damaged."""
        inputs, outputs, defaults, opsets, metadata, files, host_inputs = json.loads(text)
        return cls(
            _values_from(inputs),
            _values_from(outputs),
            frozenset(defaults),
            opsets,
            metadata,
            tuple(files),
            tuple(host_inputs),
        )


class StoredPrograms:
    """The stored programs of one model with its options.

    :param model: its bytes. :param folder: where files with external data lie.
    :param options: what else its programs depend on.
    """

    def __init__(
        self, model: bytes, folder: str | None, device: str, options: tuple[Any, ...]
    ) -> None:
        self._model = model
        self._folder = folder
        self._device = device
        self._digest = hashlib.sha256(model).hexdigest()
        self._options = options
        self._weights: dict[tuple[int, int], Buffer] = {}
        self._places: WeightPlaces | None = None

    def interface(self) -> Interface | None:
        """Return the interface of the model if a program was stored for it."""
        key = self._key()
        found = None if key is None else _interfaces.get(key)
        try:
            if found is None:
                return None
            facts, text = json.loads(found)
            interface = Interface.from_json(text)
        except _DAMAGED:
            return None
        return interface if facts == self._facts_of_files(interface) else None

    def _facts_of_files(self, interface: Interface) -> list[Any]:
        """Return size and time of change of each file with external data."""
        facts: list[Any] = []
        for name in interface.files:
            try:
                found = os.stat(os.path.join(self._folder or "", name))
                facts.append([found.st_size, found.st_mtime_ns])
            except OSError as error:
                let_through(error)
                facts.append(None)
        return facts

    def find(self, signature: tuple[Any, ...], interface: Interface) -> ModelProgram | None:
        """Return the program of a signature."""
        key = self._key()
        found = None if key is None else _programs.get(self._full_key(key, signature, interface))
        if found is None:
            return None
        try:
            program, (inputs, results) = from_bytes(found, self._weight)
            layout = tuple(
                Result(name, output, tuple(map(_size_from, shape)))
                for name, output, shape in results
            )
            return ModelProgram(tuple(inputs), layout, program)
        except _DAMAGED:
            return None

    def keep(self, signature: tuple[Any, ...], made: ModelProgram, interface: Interface) -> None:
        """Store a program, unless its constants are large and not in the model's file."""
        key = self._key()
        if key is None:
            return
        try:
            places = self._places = self._places or WeightPlaces(self._model)
            found = {id(each): places.of(each.as_memoryview()) for each in _constants(made.program)}
        except ValueError:
            return
        inline = sum(e.nbytes for e in _constants(made.program) if found[id(e)] is None)
        if inline > _MOST_BYTES:
            return
        results = [
            (each.name, each.output, list(map(_size_facts, each.shape))) for each in made.results
        ]
        notes = (made.inputs, results)
        data = to_bytes(made.program, lambda buffer: found[id(buffer)], notes)
        _programs.put(self._full_key(key, signature, interface), data)
        entry = (self._facts_of_files(interface), interface.to_json())
        _interfaces.put(key, json.dumps(entry).encode())

    def _full_key(self, key: str, signature: tuple[Any, ...], interface: Interface) -> str:
        return f"{key}\0{self._facts_of_files(interface)}\0{signature!r}"

    def _weight(self, place: Any, memory: Memory) -> Buffer:
        """Return the buffer of a weight. Programs of several signatures share it."""
        start, length = place
        found = self._weights.get((start, length))
        if found is None or (found.size, found.dtype) != (memory.size, memory.dtype):
            content = memoryview(self._model)[start : start + length]
            found = self._weights[start, length] = memory.filled(content)
        return found

    def _key(self) -> str | None:
        """Return what all programs of the model depend on; None if nothing is to be stored."""
        code = store_key(self._device)
        if code is None:
            return None
        options = (*map(str, self._options), *map(str, sorted(registry_of_operators.custom())))
        parts = (self._digest, self._device, *options, _parser_stamp(), code)
        return "\0".join(parts)


def _constants(program: Program) -> list[Buffer]:
    return list(program.constants.values())


def _parser_stamp() -> str:
    """Return a value that changes with the package that parses models: function bodies of operators
    come from it."""
    found = importlib.util.find_spec("onnx")
    if found is None or found.origin is None:
        return ""
    try:
        facts = os.stat(found.origin)
    except OSError as error:
        let_through(error)
        return ""
    return f"{facts.st_size} {facts.st_mtime_ns}"


def _size_facts(size: Any) -> Any:
    return to_text(size) if isinstance(size, UOp) else size


def _size_from(facts: Any) -> Any:
    return from_text(facts) if isinstance(facts, str) else facts


def _type_facts(kind: ValueType) -> Any:
    element = None if kind.element is None else _type_facts(kind.element)
    return kind.kind, kind.dtype, kind.shape, element


def _values_from(facts: Any) -> tuple[ValueInfo, ...]:
    return tuple(ValueInfo(name, _type_from(kind)) for name, kind in facts)


def _type_from(facts: Any) -> ValueType:
    kind, dtype, shape, element = facts
    return ValueType(
        kind,
        dtype,
        None if shape is None else tuple(shape),
        None if element is None else _type_from(element),
    )
