"""Parallel training: layouts of parameters, batches and optimiser state on several devices."""

from weft.nn.parallel.data_parallel import DataParallel, replicate
from weft.nn.parallel.pipeline import Pipeline, one_forward_one_backward
from weft.nn.parallel.tensor_parallel import SequenceParallel, column_parallel, row_parallel
from weft.nn.parallel.zero import FullySharded, shard_optimizer

__all__ = [
    "DataParallel",
    "FullySharded",
    "Pipeline",
    "SequenceParallel",
    "column_parallel",
    "one_forward_one_backward",
    "replicate",
    "row_parallel",
    "shard_optimizer",
]
