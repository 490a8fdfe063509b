"""Many launches as one submission: one command buffer, one encoder, launches in order.

For GPUs without indirect command buffers (see `indirect`). Encoding again costs a few calls a
launch; what is saved is a command buffer and its scheduling for each. Commands of one encoder run
in order, and the framework tracks what depends on what.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.plugin import Launch
from weft_metal.gpu import Gpu
from weft_metal.runner import PipelineRunner


class OneSubmission:
    """:param device: where they run.
    :param launches: in order; every runner is one of ours.
    """

    def __init__(self, device: Gpu, launches: Sequence[Launch]) -> None:
        self.device = device
        self.launches = tuple(launches)

    def __call__(
        self, handles: Sequence[Sequence[Any]], values: Sequence[Sequence[int]], *, wait: bool
    ) -> float | None:
        """Launch all of them with these handles and values; seconds if ``wait``."""

        def record(encoder: Any) -> None:
            for launch, given, numbers in zip(self.launches, handles, values, strict=True):
                runner = launch.runner
                assert isinstance(runner, PipelineRunner)  # the engine binds what weft_runner gave
                runner.encode(encoder, given, launch.global_size, launch.local_size, numbers)

        return self.device.run(record, wait)
