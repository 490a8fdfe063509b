import pytest

from weft import Tensor
from weft.base.errors import CapabilityError, UnknownDevice
from weft.device import registry
from weft.tools.dry_run import dry_run


def test_launches_are_written_down_and_nothing_runs():
    pytest.importorskip("weft_cpu_clang")
    own, plan = dry_run("CPU", "aarch64")
    with registry.use(own):
        x = Tensor([1.0, 2.0, 3.0], device="CPU:2")
        assert (x * 2).tolist() == [0.0, 0.0, 0.0]
    (launch,) = plan.launches
    assert launch.nbytes == (12, 12)
    assert launch.program.source.count("void") == 1
    assert plan.offline.capabilities.fingerprint == "offline aarch64"


def test_code_is_generated_with_the_passes_and_the_strategy_of_the_plugin():
    pytest.importorskip("weft_cpu_clang")
    own, plan = dry_run("CPU", "aarch64")
    with registry.use(own):
        target = registry.open("CPU").target
    assert target.choose is plan.offline.target.choose is not None
    assert target.passes is plan.offline.target.passes is not None


def test_families_and_architectures_that_are_not_there():
    with pytest.raises(UnknownDevice):
        dry_run("NOBODY", "x")
    with pytest.raises(CapabilityError):
        dry_run("REF", "x")
