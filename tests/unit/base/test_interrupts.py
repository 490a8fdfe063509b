import signal
import threading

import pytest

from weft.base.interrupts import Undisturbed


@pytest.fixture(autouse=True)
def pythons_own_handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def test_it_waits_for_the_end():
    reached = False
    with pytest.raises(KeyboardInterrupt):
        with Undisturbed():
            signal.raise_signal(signal.SIGINT)
            reached = True
    assert reached


def test_or_for_a_pause():
    with Undisturbed() as undisturbed:
        undisturbed.pause()
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            undisturbed.pause()
        undisturbed.pause()  # it came once


def test_an_error_inside_is_its_context():
    with pytest.raises(KeyboardInterrupt) as caught:
        with Undisturbed():
            signal.raise_signal(signal.SIGINT)
            raise ValueError
    assert isinstance(caught.value.__context__, ValueError)


def test_a_handler_of_somebody_elses_is_asked():
    seen = []
    signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        with Undisturbed():
            signal.raise_signal(signal.SIGINT)
            assert not seen
        assert seen == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.SIG_DFL])
def test_where_python_has_no_handler_there_is_nothing_to_do(handler):
    signal.signal(signal.SIGINT, handler)
    try:
        with Undisturbed():
            assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def test_other_threads_are_never_interrupted():
    found = []

    def work():
        with Undisturbed():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler]
