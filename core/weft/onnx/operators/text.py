"""Operators on strings, on the host: arrays of Python strings.

RegexFullMatch uses Python's `re`, whose syntax includes nearly all of RE2's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.onnx.graph import Node
from weft.onnx.registry import operator


@operator("StringConcat", since=20, host_inputs=("x", "y"))
def string_concat(node: Node, x: Any, y: Any) -> np.ndarray:
    """Concatenate element by element, with broadcasting."""
    return np.asarray(_strings(node, x) + _strings(node, y), object)


@operator("StringSplit", since=20, host_inputs=("x",))
def string_split(
    node: Node, x: Any, *, delimiter: str = "", maxsplit: int = -1
) -> tuple[np.ndarray, np.ndarray]:
    """Substrings along a new last axis, filled up with empty ones, and their number.

    :param delimiter: "": split at white space.
    """
    texts = _strings(node, x)
    parts = [text.split(delimiter or None, maxsplit) for text in texts.reshape(-1)]
    counts = np.asarray([len(part) for part in parts], np.int64)
    found = np.full((len(parts), counts.max(initial=0)), "", object)
    for row, part in zip(found, parts, strict=True):
        row[: len(part)] = part
    return found.reshape(*texts.shape, found.shape[1]), counts.reshape(texts.shape)


@operator("StringNormalizer", since=10, host_inputs=("x",))
def string_normalizer(
    node: Node, x: Any, *, case_change_action: str = "NONE", is_case_sensitive: int = 0,
    locale: str = "", stopwords: Sequence[str] = (),
) -> np.ndarray:  # fmt: skip
    """Remove stop words, then change the case. Of nothing one empty string is left."""
    changes = {"NONE": str, "LOWER": str.lower, "UPPER": str.upper}
    texts = _strings(node, x)
    if texts.ndim not in (1, 2) or (texts.ndim == 2 and texts.shape[0] != 1):
        raise node.refuse(f"the strings have the shape {x.shape}", "the shape (C,) or (1, C)")
    if case_change_action not in changes:
        raise node.refuse(
            f"case_change_action is {case_change_action!r}", "'NONE', 'LOWER' or 'UPPER'"
        )

    def compared(text: str) -> str:
        return text if is_case_sensitive else text.lower()

    stops = {compared(word) for word in stopwords}
    kept = [text for text in texts.reshape(-1) if compared(text) not in stops]
    changed = [changes[case_change_action](text) for text in kept] or [""]
    return np.asarray(changed, object).reshape((1,) * (texts.ndim - 1) + (-1,))


@operator("RegexFullMatch", since=20, host_inputs=("x",))
def regex_full_match(node: Node, x: Any, *, pattern: str) -> np.ndarray:
    """Whether each whole string matches the pattern."""
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise node.refuse(
            f"the pattern {pattern!r} is not valid: {error}", "a pattern of Python's module re"
        ) from error
    texts = _strings(node, x)
    found = [compiled.fullmatch(text) is not None for text in texts.reshape(-1)]
    return np.asarray(found, np.bool_).reshape(texts.shape)


@operator("TfIdfVectorizer", since=9, host_inputs=("x",))
def tf_idf_vectorizer(
    node: Node, x: Any, *, max_gram_length: int, max_skip_count: int, min_gram_length: int,
    mode: str, ngram_counts: Sequence[int], ngram_indexes: Sequence[int],
    pool_int64s: Sequence[int] = (), pool_strings: Sequence[str] = (),
    weights: Sequence[float] = (),
) -> np.ndarray:  # fmt: skip
    """Count the n-grams of a pool in each row, optionally weighted.

    :param max_skip_count: how many elements may lie between two elements of an n-gram.
    :param mode: "TF": counts; "IDF": weight of each n-gram that occurs; "TFIDF": their product.
    """
    if mode not in ("TF", "IDF", "TFIDF") or x.ndim not in (1, 2) or not len(ngram_indexes):
        raise node.refuse(
            f"the mode is {mode!r}, and the input has the shape {x.shape}",
            "'TF', 'IDF' or 'TFIDF', and an input (C,) or (N, C)",
        )
    pool = [*pool_strings] or [int(each) for each in pool_int64s]
    numbers = _pool_numbers(node, pool, ngram_counts, len(ngram_indexes))
    counts = np.zeros((x.shape[0] if x.ndim == 2 else 1, max(ngram_indexes) + 1), np.float32)
    for row, found in zip(x.reshape(len(counts), -1).tolist(), counts, strict=True):
        for gram in _grams(row, min_gram_length, max_gram_length, max_skip_count):
            number = numbers.get(gram)
            if number is not None:
                found[ngram_indexes[number]] += 1
    if mode == "IDF":
        counts = np.minimum(counts, 1)
    if mode != "TF" and len(weights):
        factors = np.ones(counts.shape[1], np.float32)
        factors[list(ngram_indexes)] = weights
        counts = counts * factors
    return counts if x.ndim == 2 else counts[0]


def _pool_numbers(
    node: Node, pool: Sequence[Any], starts: Sequence[int], count: int
) -> dict[tuple[Any, ...], int]:
    """The number of each n-gram of the pool: 1-grams come first, then 2-grams, ..."""
    numbers: dict[tuple[Any, ...], int] = {}
    ends = [*starts[1:], len(pool)]
    for size, (start, end) in enumerate(zip(starts, ends, strict=True), start=1):
        if not 0 <= start <= end <= len(pool) or (end - start) % size:
            raise node.refuse(
                f"ngram_counts is {list(starts)}, and the pool has {len(pool)} elements",
                "rising positions in the pool, with whole n-grams between them",
            )
        for at in range(start, end, size):
            numbers.setdefault(tuple(pool[at : at + size]), len(numbers))
    if len(numbers) > count:
        raise node.refuse(
            f"the pool has {len(numbers)} n-grams, and ngram_indexes {count} elements",
            "an index for each n-gram",
        )
    return numbers


def _grams(row: list[Any], least: int, most: int, skips: int) -> Any:
    """All n-grams of a row. The elements of one are equally far apart."""
    for size in range(max(least, 1), most + 1):
        for apart in range(1, (skips if size > 1 else 0) + 2):
            for start in range(len(row) - (size - 1) * apart):
                yield tuple(row[start : start + (size - 1) * apart + 1 : apart])


def _strings(node: Node, x: Any) -> np.ndarray:
    if x.dtype.kind not in "OSU":
        raise node.refuse(f"an input has the dtype {x.dtype}", "strings")
    return x.astype(object)
