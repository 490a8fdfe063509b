import inspect

from weft.device import hookspecs
from weft.device.hookspecs import API_VERSION

HOOKS = {name: f for name, f in vars(hookspecs).items() if name.startswith("weft_")}


def test_there_are_nine_hooks_each_explained_and_typed():
    assert len(HOOKS) == 9
    for name, function in HOOKS.items():
        assert function.__doc__, name
        signature = inspect.signature(function)
        assert signature.return_annotation is not inspect.Signature.empty, name
        for parameter in signature.parameters.values():
            assert parameter.annotation is not inspect.Parameter.empty, name


def test_the_version_is_two_numbers():
    assert len(API_VERSION) == 2 and all(isinstance(number, int) for number in API_VERSION)
