"""Operators on strings compared with the reference evaluator."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx builds the models")

from helpers.onnx_nodes import by_weft, compare, node_model, refused


def _texts(*rows):
    return np.array(rows, object)


def test_concatenation_broadcasts():
    compare("StringConcat", [_texts("a", "b"), _texts(["c"], ["ä"])])


@pytest.mark.parametrize(
    "options", [{}, {"delimiter": ","}, {"delimiter": ",", "maxsplit": 1}, {"maxsplit": 1}]
)
def test_splits(options):
    compare("StringSplit", [_texts(["a,b,c", "  x  y "], ["", ",,"])], 2, **options)


def test_split_of_nothing():
    compare("StringSplit", [np.zeros((0, 2), object)], 2)


@pytest.mark.parametrize("change", ["NONE", "LOWER", "UPPER"])
@pytest.mark.parametrize("sensitive", [0, 1])
def test_stop_words(change, sensitive):
    words = _texts("Monday", "tuesday", "THE", "the")
    options = {"case_change_action": change, "is_case_sensitive": sensitive}
    found = by_weft(node_model("StringNormalizer", [words], stopwords=["the"], **options), [words])
    kept = ["Monday", "tuesday", "THE"] if sensitive else ["Monday", "tuesday"]
    changed = {"NONE": str, "LOWER": str.lower, "UPPER": str.upper}[change]
    assert found[0].tolist() == [changed(word) for word in kept]


def test_one_empty_string_is_left():
    words = _texts(["the", "The"])
    found = by_weft(node_model("StringNormalizer", [words], stopwords=["the"]), [words])[0]
    assert found.tolist() == [[""]]


def test_whole_strings_match():
    texts = _texts(["www.google.com", "www.google.com/x"], ["", "google"])
    compare("RegexFullMatch", [texts], pattern=r"www\.[\w.-]+\.\bcom\b")


@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
@pytest.mark.parametrize("skips", [0, 2])
def test_counts_of_grams(mode, skips):
    rows = np.array([[1, 1, 3, 3, 3, 7], [8, 6, 7, 5, 6, 8]], np.int32)
    options = {
        "mode": mode, "min_gram_length": 1, "max_gram_length": 2, "max_skip_count": skips,
        "ngram_counts": [0, 4], "ngram_indexes": [0, 1, 2, 3, 4, 5, 6],
        "pool_int64s": [2, 3, 5, 4, 5, 6, 7, 8, 6, 7], "weights": [2.0, 3, 1, 4, 0.5, 2, 3],
    }  # fmt: skip
    compare("TfIdfVectorizer", [rows], **options)


def test_weights_belong_to_the_grams_of_the_pool():
    row = np.array([5, 5, 7])
    options = {
        "mode": "TFIDF", "min_gram_length": 1, "max_gram_length": 1, "max_skip_count": 0,
        "ngram_counts": [0], "ngram_indexes": [2, 0], "pool_int64s": [5, 7],
        "weights": [10.0, 1.0],
    }  # fmt: skip
    found = by_weft(node_model("TfIdfVectorizer", [row], **options), [row])[0]
    assert found.tolist() == [1.0, 0.0, 20.0]


def test_grams_of_strings():
    words = _texts("a", "b", "a", "b")
    options = {
        "mode": "TF", "min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 0,
        "ngram_counts": [0, 1], "ngram_indexes": [0, 1], "pool_strings": ["b", "a", "b"],
    }  # fmt: skip
    found = by_weft(node_model("TfIdfVectorizer", [words], **options), [words])[0]
    assert found.tolist() == [2.0, 2.0]


def test_errors():
    words = _texts("a", "b")
    refused("RegexFullMatch", [words], "pattern", pattern="(")
    refused("StringNormalizer", [words], "case_change_action", case_change_action="TITLE")
    refused("StringNormalizer", [_texts(["a"], ["b"])], "shape")
    options = {
        "min_gram_length": 1, "max_gram_length": 1, "max_skip_count": 0, "ngram_indexes": [0],
        "pool_strings": ["a"],
    }  # fmt: skip
    refused("TfIdfVectorizer", [words], "mode", mode="X", ngram_counts=[0], **options)
    refused("TfIdfVectorizer", [words], "ngram_counts", mode="TF", ngram_counts=[3], **options)
