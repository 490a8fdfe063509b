"""Generation: the same tokens as a computation without a cache, stop strings, limits."""

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.base.errors import ArgumentError, UnknownChoice
from weft_llm import Answer, load
from weft_llm.generation import Decoder, StopStrings
from weft_llm.kv_cache import WholeSequence


def greedy_tokens(model, tokens, count):
    """The likeliest continuation, computed without a cache."""
    known = list(tokens)
    for _ in range(count):
        size = -(-len(known) // 16) * 16
        padded = Tensor([known + [0] * (size - len(known))], dtype=dtypes.int32)
        hidden = model.network(padded, WholeSequence(1, size))
        known.append(int(model.network.logits(hidden)[0, len(known) - 1].argmax().item()))
    return known[len(tokens) :]


@pytest.mark.parametrize("length", [1, 5, 40])
def test_tokens_are_those_without_a_cache(small_model, length):
    prompt = list(range(5, 5 + length))
    decoder = Decoder(small_model.network, 128)
    logits = decoder.prefill(prompt)
    found = []
    for _ in range(6):
        found.append(int(logits.argmax(-1).item()))
        logits = decoder.extend(found[-1:])
    assert found == greedy_tokens(small_model, prompt, 6)


@pytest.mark.parametrize("cache_format", ["float32", "q8"])
def test_rows_of_a_cache_are_written_before_they_are_read(small_model, cache_format):
    found = []
    for garbage in (0, float("nan")):
        decoder = Decoder(small_model.network, 64, cache_format)
        for each in decoder.cache.tensors:
            each.assign(Tensor.full(each.shape, garbage if each.dtype is dtypes.float32 else 77))
            each.realize()
        found.append([decoder.extend(tokens).numpy() for tokens in ([1] * 40, [4], [5, 6])])
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("lengths", [[5, 1, 1], [40, 1]])
def test_a_cache_in_int8_is_near_one_in_float32(small_model, lengths):
    exact, rounded = (Decoder(small_model.network, 128, each) for each in ("float32", "q8"))
    for length in lengths:
        tokens = [(7 * n) % 50 for n in range(length)]
        expected = exact.extend(tokens).numpy()
        np.testing.assert_allclose(rounded.extend(tokens).numpy(), expected, atol=0.2)
    sizes = [sum(t.nbytes() for t in each.cache.tensors) for each in (exact, rounded)]
    assert sizes[1] < 0.4 * sizes[0]  # heads of 8 numbers have blocks of 8


def test_likeliest_token(small_model):
    decoder = Decoder(small_model.network, 128)
    for tokens in ([1, 2, 3], [4], [5]):
        logits = decoder.extend(tokens)
        assert decoder.likeliest == int(logits.numpy()[0].argmax())


def test_the_common_beginning_is_reused(small_model):
    decoder = Decoder(small_model.network, 128)
    decoder.prefill(list(range(20)))
    replays = decoder.tokens[:]
    expected = Decoder(small_model.network, 128).prefill([*range(10), 3, 4]).numpy()
    found = decoder.prefill([*range(10), 3, 4]).numpy()
    assert replays == list(range(20)) and decoder.tokens == [*range(10), 3, 4]
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_the_pieces_are_the_text(small_model):
    answer = Answer()
    pieces = list(small_model.stream("the fox", max_tokens=12, answer=answer))
    assert "".join(pieces) == small_model.generate("the fox", max_tokens=12)
    assert len(answer.tokens) <= 12 and answer.reason in ("stop", "length")


def test_seeds_repeat_an_answer(small_model):
    settings = {"temperature": 1.5, "max_tokens": 12, "top_k": 50, "top_p": 0.95}
    first = small_model.generate("dog", seed=3, **settings)
    assert small_model.generate("dog", seed=3, **settings) == first
    others = {small_model.generate("dog", seed=seed, **settings) for seed in range(4)}
    assert len(others) > 1


def test_stop_strings_end_an_answer(small_model):
    text = small_model.generate("the fox", max_tokens=12)
    stop = text[3:5]
    answer = Answer()
    found = "".join(small_model.stream("the fox", max_tokens=12, stop=stop, answer=answer))
    assert found == text[: text.index(stop)] and answer.reason == "stop"


@pytest.mark.parametrize(
    "pieces, stops, shown",
    [
        (["ab", "cd"], ["bc"], "a"), (["a", "b", "c"], ["abd"], "abc"), (["xx"], [], "xx"),
        (["aab"], ["ab"], "a"), (["STO", "P"], ["STOP"], ""), (["a", "a", "b"], ["aab"], ""),
        (["hello"], ["lo", "ell"], "h"), (["ab"], [""], "ab"),
    ],
)  # fmt: skip
def test_stop_strings_over_pieces(pieces, stops, shown):
    found = StopStrings(stops)
    text = ""
    for piece in pieces:
        text += found.put(piece)
        if found.stopped:
            break
    assert text + found.rest() == shown


def test_messages_are_a_prompt(small_model):
    tokens = small_model.prompt_tokens([{"role": "user", "content": "the dog"}])
    text = small_model.tokenizer.decode(tokens, special=True)
    assert text.startswith("<|im_start|>user\nthe dog<|im_end|>")


@pytest.mark.parametrize(
    "settings",
    [
        {"temperature": -1}, {"top_p": 2}, {"top_k": "a"}, {"max_tokens": -1}, {"max_tokens": 1.5},
        {"stop": 3}, {"stop": [3]}, {"temperature": float("nan")}, {"min_p": True},
    ],
)  # fmt: skip
def test_wrong_settings_are_refused(small_model, settings):
    with pytest.raises(ArgumentError):
        small_model.generate("a", **settings)


def test_long_prompts_are_refused(small_gguf):
    model = load(small_gguf, context=16)
    with pytest.raises(ArgumentError, match="too long"):
        model.generate("the quick brown fox " * 20)
    assert len(model.prompt_tokens("the fox")) < 16
    answer = Answer()
    list(model.stream("the fox", max_tokens=1000, answer=answer))
    assert len(answer.tokens) < 16


def test_the_context_is_checked(small_gguf):
    for context in (0, 10**6):
        with pytest.raises(ArgumentError):
            load(small_gguf, context=context)


def test_unknown_activations(small_gguf):
    with pytest.raises(UnknownChoice, match="'int8' or 'float32'"):
        load(small_gguf, activations="int4")


def test_embeddings_have_length_one(small_model):
    found = small_model.embed(["the fox", "a dog", "the fox"])
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(found[0], found[2])
    assert abs(float(found[0] @ found[1])) < 0.9999
