"""What WEFT_DEBUG prints."""

from helpers.schedules import DEVICE, floats, scheduled
from weft.base.settings import settings
from weft.engine import lower_schedule, run_schedule
from weft.schedule import Layout


def test_debug_two_prints_a_line_per_kernel(capsys):
    items, _ = scheduled(floats(1, 2) + 1.0)
    with settings.override(DEBUG=2):
        run_schedule(items)
    line = capsys.readouterr().err
    assert DEVICE in line and "E_2" in line and "arg   2" in line and "GB/s" in line


def test_debug_four_prints_the_source_once(capsys):
    items, _ = scheduled(floats(1, 2) + 17.0)
    with settings.override(DEBUG=4):
        for _ in range(2):
            for step in lower_schedule(items):
                step.run()
    assert capsys.readouterr().err.count(lower_schedule(items)[0].prg.p.src) == 1


def test_debug_three_prints_the_schedule_and_five_the_programs(capsys):
    items, _ = scheduled(floats(1, 2) + 19.0)
    with settings.override(DEBUG=3):
        run_schedule(items)
    assert "schedule of 1 item" in capsys.readouterr().err
    with settings.override(DEBUG=5):
        run_schedule(items)
    text = capsys.readouterr().err
    assert "%0 = DEFINE_GLOBAL" in text and "STORE" in text


def test_debug_six_prints_every_pass(capsys):
    with settings.override(DEBUG=6):
        scheduled(floats(1, 2) + 23.0)
    text = capsys.readouterr().err
    assert "--- clean" in text and "--- create_kernels" in text


def test_debug_two_prints_memory_of_intermediates(capsys):
    items, _ = scheduled(floats(1, 2) + 29.0)
    layout = Layout({}, ((DEVICE, 1 << 20),), 3 << 20)
    with settings.override(DEBUG=1):
        run_schedule(items, layout=layout)
    assert capsys.readouterr().err == ""
    with settings.override(DEBUG=2):
        run_schedule(items, layout=layout)
    line = capsys.readouterr().err.splitlines()[0]
    assert "memory for intermediates" in line and "1" in line and "3" in line
