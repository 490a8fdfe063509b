"""Data sets that worker processes can import."""

import os
import pathlib
import time

import numpy as np

from weft import data


class Squares(data.Dataset):
    def __init__(self, size=10):
        self.size = size

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        return np.float32(index * index), index


class Failing(Squares):
    def __getitem__(self, index):
        if index == 5:
            return deep_below(index)
        return super().__getitem__(index)


def deep_below(index):
    raise KeyError(f"sample {index} is damaged")


class Dying(Squares):
    def __getitem__(self, index):
        if index == 4:
            os._exit(3)
        return super().__getitem__(index)


class Sleeping(Squares):
    def __getitem__(self, index):
        time.sleep(0.02)
        if index == 2:
            time.sleep(2)
        return super().__getitem__(index)


class Noisy(Squares):
    def __getitem__(self, index):
        return index + data.batch_rng().normal()


class Stream(data.IterableDataset):
    def __init__(self, size):
        self.size = size

    def __iter__(self):
        info = data.get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(range(first, self.size, step))


def note(folder, worker):
    (pathlib.Path(folder) / f"{worker} of {data.get_worker_info().num_workers}").touch()


def refusing(worker):
    raise RuntimeError(f"worker {worker} has no data")
