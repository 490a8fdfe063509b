"""What is said of where a node is from. (How it is recorded: tests/unit/tensor.)"""

import pickle

from weft.base.provenance import Metadata, describe


def test_words_for_places() -> None:
    assert describe(("/somewhere/train.py", 41, "forward")) == "train.py:41 in forward"
    assert describe(("/somewhere/train.py", 41, "<module>")) == "train.py:41"
    assert describe(None) == "an unknown place"


def test_metadata_reads_as_its_name_and_is_compared_by_value() -> None:
    made = Metadata("relu", ("train.py", 41, "forward"))
    assert str(made) == "relu"
    assert made == pickle.loads(pickle.dumps(made))
    assert made != Metadata("relu", ("train.py", 41, "forward"), backward=True)
