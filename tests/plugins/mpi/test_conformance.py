"""The section of the conformance kit on collectives, run by all ranks together."""

import pytest


@pytest.mark.parametrize("n", [2, 3])
def test_the_kit_passes_on_ranks(ranks, n):
    outcome = ranks(
        n,
        """
        import pytest
        names = ["-p", "no:cacheprovider", "--pyargs", "weft.testing.conformance.test_collectives"]
        code = pytest.main(["-q", *names, "--weft-device", f"MPI:{rank}"])
        assert code == 0, f"the kit ended with {code}"
        """,
    )
    assert outcome.out.count(" passed") == n and " failed" not in outcome.out
