import signal
import threading

import pytest

from weft.base.interrupts import Undisturbed, let_through


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


def test_a_foreign_signal_handler_is_called():
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
def test_signals_without_python_handler(handler):
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


# ---- other signals -------------------------------------------------------------------------------

ALARM = pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="a system without this signal")


class Late(Exception):
    """What a handler raises."""


@pytest.fixture
def alarm():
    def handler(number, frame):
        raise Late

    before = signal.signal(signal.SIGALRM, handler)
    yield handler
    assert signal.getsignal(signal.SIGALRM) is handler
    signal.signal(signal.SIGALRM, before)


@ALARM
def test_every_signal_with_a_handler_waits(alarm):
    reached = False
    with pytest.raises(Late):
        with Undisturbed():
            signal.raise_signal(signal.SIGALRM)
            reached = True
    assert reached


@ALARM
def test_two_signals_both_come(alarm):
    seen = []
    with Undisturbed() as undisturbed:
        signal.raise_signal(signal.SIGALRM)
        signal.raise_signal(signal.SIGINT)
        for _ in range(2):
            try:
                undisturbed.pause()
            except (Late, KeyboardInterrupt) as error:
                seen.append(type(error))
    assert seen == [Late, KeyboardInterrupt]


@ALARM
def test_exceptions_of_a_handler_are_propagated(alarm):
    def work():
        signal.raise_signal(signal.SIGALRM)

    with pytest.raises(Late):
        try:
            work()
        except Exception as error:
            let_through(error)
            raise AssertionError("taken for a failure of work") from error


@ALARM
@pytest.mark.parametrize("how", ["object", "method"])
def test_handlers_of_any_kind_are_known(how, alarm):
    class Handler:
        def __call__(self, number, frame):
            raise Late

        def method(self, number, frame):
            raise Late

    handler = Handler()
    signal.signal(signal.SIGALRM, handler if how == "object" else handler.method)
    try:
        with pytest.raises(Late):
            try:
                signal.raise_signal(signal.SIGALRM)
            except Exception as error:
                let_through(error)
    finally:
        signal.signal(signal.SIGALRM, alarm)


def test_ordinary_exceptions_are_not_propagated():
    def work():
        raise Late

    for function in (work, lambda: {}["missing"], lambda: int("x")):
        try:
            function()
        except Exception as error:
            let_through(error)
    let_through(Late())  # was never raised
