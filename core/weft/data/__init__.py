"""Data sets, and batches of them on a device: `Dataset`, `DataLoader` and what belongs to them."""

from weft.data.collate import default_collate
from weft.data.datasets import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    random_split,
)
from weft.data.files import SafetensorsDataset
from weft.data.loader import DataLoader
from weft.data.progress import Progress
from weft.data.samplers import (
    BatchSampler,
    DistributedSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from weft.data.workers import WorkerInfo, batch_rng, get_worker_info

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterableDataset",
    "Progress",
    "RandomSampler",
    "SafetensorsDataset",
    "Sampler",
    "SequentialSampler",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "WorkerInfo",
    "batch_rng",
    "default_collate",
    "get_worker_info",
    "random_split",
]
