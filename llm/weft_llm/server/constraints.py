"""Output that a JSON schema constrains: which tokens may come next, by llguidance."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from weft.base.errors import ArgumentError, CapabilityError
from weft_llm.tokenizer import Tokenizer

_LONGEST_SCHEMA = 1 << 18


class Constraint:
    """The state of one answer: a mask of tokens, moved on by each token."""

    def __init__(self, matcher: Any, vocabulary: int) -> None:
        self._matcher, self._vocabulary = matcher, vocabulary

    def mask(self) -> np.ndarray:
        """Which tokens may come next, bool (vocabulary,)."""
        import llguidance.numpy

        bits = llguidance.numpy.allocate_token_bitmask(1, self._vocabulary)
        llguidance.numpy.fill_next_token_bitmask(self._matcher, bits, 0)
        flags = np.unpackbits(bits.view(np.uint8), bitorder="little")
        return flags[: self._vocabulary].astype(bool)

    def put(self, token: int) -> None:
        """Move on by a token."""
        self._matcher.consume_token(token)

    @property
    def finished(self) -> bool:
        """Whether nothing can come any more."""
        return bool(self._matcher.is_stopped())


class ConstraintMaker:
    """Makes constraints for one tokenizer."""

    def __init__(self, tokenizer: Tokenizer, vocabulary: int) -> None:
        self._tokenizer, self._vocabulary = tokenizer, vocabulary
        self._inner: Any = None

    def for_schema(self, schema: Mapping[str, Any]) -> Constraint:
        """The constraint of a JSON schema.

        Raises ArgumentError for schemas that are no such, CapabilityError without llguidance.
        """
        try:
            import llguidance
        except ImportError as error:
            raise CapabilityError(
                "constrained output needs llguidance",
                because=str(error),
                try_="pip install 'weft-llm[constrained]'",
            ) from error
        if self._inner is None:
            text = self._tokenizer.inner.to_str()
            ends = sorted(self._tokenizer.ends)
            self._inner = llguidance.LLTokenizer(text, n_vocab=self._vocabulary, eos_token=ends)
        try:
            written = json.dumps(schema)
            if len(written) > _LONGEST_SCHEMA:
                raise ValueError(f"it has more than {_LONGEST_SCHEMA} characters")
            grammar = llguidance.LLMatcher.grammar_from_json_schema(
                written, overrides={"whitespace_flexible": False}
            )
            matcher = llguidance.LLMatcher(self._inner, grammar, log_level=0)
        except (ValueError, TypeError, RecursionError) as error:
            raise _refused(str(error)) from error
        if matcher.is_error():
            raise _refused(matcher.get_error())
        return Constraint(matcher, self._vocabulary)


def _refused(because: str) -> ArgumentError:
    return ArgumentError("the JSON schema cannot be used", because=because[:500])
