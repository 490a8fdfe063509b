"""Load a network: a GGUF file, or a folder with config.json and safetensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft import Tensor, dtypes, io, nn
from weft.base.errors import FormatError
from weft.device import registry
from weft.quantization import storage_of
from weft_llm import gguf_model, hugging_face
from weft_llm.configuration import Config
from weft_llm.families import FAMILIES
from weft_llm.layers import Network
from weft_llm.weights import BlockWeight, Weight


@dataclass(frozen=True)
class Source:
    """A model's files: its configuration, lazy tensors by our names, metadata of a GGUF file."""

    path: Path
    config: Config
    state: dict[str, Tensor]
    notes: Mapping[str, Any] | None


def open_source(path: str | Path, device: str | None = None) -> Source:
    """Read configuration and table of contents of a GGUF file or of a folder.

    device: where the tensors will be, the default device without it.

    Raises FileError where files cannot be read, FormatError where they are damaged, UnknownChoice
    for other families.
    """
    path, device = Path(path), device or registry.canonical()
    if path.is_dir():
        config = hugging_face.config_from_json(
            hugging_face.read_json(path / "config.json"), FAMILIES
        )
        tensors = hugging_face.read_tensors(path, device)
        return Source(path, config, hugging_face.state_from_tensors(tensors, config), None)
    notes, tensors = io.gguf_load(path, device)
    if "token_embd.weight" not in tensors:
        raise FormatError("the file has no model", because="token_embd.weight is missing")
    config = gguf_model.config_from_notes(notes, tensors)
    return Source(path, config, gguf_model.state_from_tensors(tensors, config), notes)


def load_network(source: Source, dtype: Any = None, activations: str = "float32") -> Network:
    """The network of a source with its weights in memory.

    dtype: of the weights of linear layers and embeddings; without it that of the file, where
    quantised ones keep their blocks. activations: see `BlockWeight`. Raises FormatError for tensors
    that are missing or have other shapes.
    """
    network: Network = FAMILIES[source.config.family](source.config)
    own = nn.state.get_state_dict(network)
    missing = [name for name in own if name not in source.state]
    if missing:
        raise FormatError(
            "tensors of the model are missing",
            asked=f"load {source.path}",
            because=f"the file lacks {', '.join(missing[:5])}" + _more(len(missing) - 5),
            try_="compare the file with the original",
        )
    weights = {}
    for name, target in own.items():
        saved = source.state[name]
        if tuple(saved.shape) != tuple(target.shape):
            raise FormatError(
                "a tensor has another shape than the configuration says",
                asked=f"load {source.path}",
                because=f"{name} has {saved.shape}, and {target.shape} is needed",
                try_="compare the file with the original",
            )
        weights[name] = _placed(saved, dtype, activations)
    blocks = [each.data for each in weights.values() if isinstance(each, BlockWeight)]
    Tensor.realize(*blocks, *(each for each in weights.values() if isinstance(each, Tensor)))
    for name, weight in weights.items():
        _put(network, name, weight)
    return network


def _put(network: nn.Module, name: str, value: Weight) -> None:
    """Set the attribute that a dotted name of the state is about."""
    *path, last = name.split(".")
    place: Any = network
    for step in path:
        place = place[int(step)] if step.isdigit() else getattr(place, step)
    setattr(place, last, value)


def _placed(saved: Tensor, dtype: Any, activations: str) -> Weight:
    """The weight to store: quantised ones as they are, vectors as float32."""
    storage = storage_of(saved) if dtype is None else None
    if storage is not None:
        return BlockWeight(storage, activations)
    kind = dtypes.float32 if len(saved.shape) == 1 else dtype
    stored = (saved if kind is None else saved.cast(kind)).contiguous()
    return nn.Parameter(stored, requires_grad=False)


def _more(count: int) -> str:
    return f" and {count} more" if count > 0 else ""
