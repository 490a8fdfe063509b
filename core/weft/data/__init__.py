"""Data sets, and batches of them on a device: `Dataset`, `DataLoader` and what belongs to them."""

# ruff: noqa: F403, F405 - each module has its public names in __all__

from typing import TYPE_CHECKING, NoReturn

from weft.base.suggestions import missing_name
from weft.data.collate import default_collate
from weft.data.datasets import *
from weft.data.files import SafetensorsDataset
from weft.data.loader import DataLoader
from weft.data.progress import Progress
from weft.data.samplers import *
from weft.data.workers import WorkerInfo, batch_rng, get_worker_info

__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "DistributedSampler",
    "IterableDataset", "Progress", "RandomSampler", "SafetensorsDataset", "Sampler",
    "SequentialSampler", "Subset", "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler",
    "WorkerInfo", "batch_rng", "default_collate", "get_worker_info", "random_split",
]  # fmt: skip

_EQUIVALENTS = {
    "default_convert": "weft.Tensor(array), or collate_fn of the DataLoader",
    "StackDataset": "weft.data.TensorDataset, or a weft.data.Dataset of your own",
    **dict.fromkeys(("dataset", "dataloader", "sampler"), "the classes are in weft.data itself"),
    "distributed": "weft.data.DistributedSampler",
    **dict.fromkeys(
        "IterDataPipe MapDataPipe DFIterDataPipe DataChunk datapipes functional_datapipe graph "
        "graph_settings guaranteed_datapipes_determinism non_deterministic runtime_validation "
        "runtime_validation_disabled argument_validation".split(),
        "weft.data.IterableDataset, whose __iter__ is a generator",
    ),
    "transforms": "functions of arrays in a Dataset's __getitem__",
    "datasets": "weft.nn.datasets",
}


if not TYPE_CHECKING:  # a checker reports a name that is not there

    def __getattr__(name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(f"module 'weft.data' has no attribute {name!r}")
        raise missing_name("weft.data", name, __all__, _EQUIVALENTS)
