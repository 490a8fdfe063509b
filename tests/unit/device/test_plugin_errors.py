from weft.base.errors import PluginError
from weft.device.discovery import PluginState, plugin_by_hand
from weft.device.plugin_errors import (
    belongs_to_the_core,
    install_line,
    not_usable,
    only_extended,
    two_owners,
    unknown_family,
)


def plugin(family, distribution):
    return plugin_by_hand(object(), family, distribution, "1.0")


ONE, TWO = plugin("MINE", "weft-one"), plugin("MINE", "weft-two")


def test_each_names_who_is_at_fault():
    for error in (two_owners("MINE", [ONE, TWO]), only_extended("MINE", [ONE])):
        assert error.asked == "MINE" and "weft-one 1.0" in error.because
    assert "weft-one 1.0 and weft-two 1.0" in two_owners("MINE", [ONE, TWO]).because
    assert "weft-one 1.0" in belongs_to_the_core(ONE).because


def test_the_cause_is_attached():
    broken = plugin("MINE", "weft-one")
    broken.state, broken.cause = PluginState.IMPORT_FAILED, ImportError("libx.so")
    error = not_usable(broken)
    assert error.__cause__ is broken.cause
    assert error.because == "weft-one 1.0: ImportError: libx.so"
    assert error.try_.startswith("pip install --upgrade weft-one")
    by_hand = plugin("", "")
    by_hand.state, by_hand.cause = PluginState.IMPORT_FAILED, ImportError("x")
    assert not_usable(by_hand).summary == "this plugin cannot be used"
    assert not_usable(by_hand).try_ == "mend the plugin; the cause is attached"
    by_hand.cause = PluginError("it states no version", try_="weft_api = (1, 0)")
    assert not_usable(by_hand).try_ == "mend the plugin: weft_api = (1, 0); the cause is attached"


def test_a_family_that_nobody_serves():
    error = unknown_family("MIND", [ONE])
    assert error.because == "installed plugins serve MINE"
    assert error.try_ == "did you mean MINE? Otherwise: pip install weft-mind"
    assert install_line("MY_CHIP") == "pip install weft-my-chip"
