"""Models of transformers, torchvision and timm with small random weights, and their inputs."""

from __future__ import annotations

import torch


def _tokens(batch=2, length=7, vocabulary=64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(3, vocabulary, (batch, length), generator=generator)


def _image(size, channels=3, batch=2):
    return torch.randn(batch, channels, size, size, generator=torch.Generator().manual_seed(1))


def bert():
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=64,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
        max_position_embeddings=32,
    )
    mask = torch.ones(2, 7, dtype=torch.int64)
    mask[1, 5:] = 0
    return BertModel(config), {"input_ids": _tokens(), "attention_mask": mask}


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(vocab_size=64, n_positions=32, n_embd=32, n_layer=2, n_head=4)
    return GPT2LMHeadModel(config), {"input_ids": _tokens(), "use_cache": False}


def llama():
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=64,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=32,
    )
    return LlamaForCausalLM(config), {"input_ids": _tokens(), "use_cache": False}


def t5():
    from transformers import T5Config, T5ForConditionalGeneration

    config = T5Config(
        vocab_size=64,
        d_model=32,
        d_kv=8,
        d_ff=48,
        num_layers=2,
        num_heads=4,
        decoder_start_token_id=0,
    )
    inputs = {"input_ids": _tokens(), "decoder_input_ids": _tokens(length=5, seed=2)}
    return T5ForConditionalGeneration(config), {**inputs, "use_cache": False}


def whisper():
    from transformers import WhisperConfig, WhisperForConditionalGeneration

    config = WhisperConfig(
        vocab_size=64,
        num_mel_bins=8,
        d_model=32,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
        max_source_positions=16,
        max_target_positions=16,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
        suppress_tokens=None,
        begin_suppress_tokens=None,
    )
    features = torch.randn(2, 8, 32, generator=torch.Generator().manual_seed(1))
    inputs = {"input_features": features, "decoder_input_ids": _tokens(length=5)}
    return WhisperForConditionalGeneration(config), {**inputs, "use_cache": False}


def clip():
    from transformers import CLIPConfig, CLIPModel

    text = {
        "vocab_size": 64,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "max_position_embeddings": 16,
        "eos_token_id": 2,
        "bos_token_id": 1,
        "pad_token_id": 0,
    }
    vision = {
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "image_size": 16,
        "patch_size": 8,
    }
    config = CLIPConfig(text_config=text, vision_config=vision, projection_dim=16)
    tokens = _tokens()
    tokens[:, -1] = 2
    return CLIPModel(config), {"input_ids": tokens, "pixel_values": _image(16)}


def vit():
    from transformers import ViTConfig, ViTModel

    config = ViTConfig(
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
        image_size=16,
        patch_size=8,
    )
    return ViTModel(config), {"pixel_values": _image(16)}


def _decoder(name, **more):
    """A decoder of tokens by the names of its classes, with the common settings."""
    import transformers

    settings = {
        "vocab_size": 64,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 48,
        "max_position_embeddings": 32,
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
    }
    config = getattr(transformers, f"{name}Config")(**{**settings, **more})
    model = getattr(transformers, f"{name}ForCausalLM")(config)
    return model, {"input_ids": _tokens(), "use_cache": False}


def distilbert():
    from transformers import DistilBertConfig, DistilBertModel

    config = DistilBertConfig(
        vocab_size=64, dim=32, n_layers=2, n_heads=4, hidden_dim=48, max_position_embeddings=32
    )
    return DistilBertModel(config), {"input_ids": _tokens()}


def bart():
    from transformers import BartConfig, BartForConditionalGeneration

    config = BartConfig(
        vocab_size=64, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48,
        max_position_embeddings=32, pad_token_id=0, bos_token_id=1, eos_token_id=2,
        decoder_start_token_id=2, forced_eos_token_id=2,
    )  # fmt: skip
    inputs = {"input_ids": _tokens(), "decoder_input_ids": _tokens(length=5, seed=2)}
    return BartForConditionalGeneration(config), {**inputs, "use_cache": False}


def segformer():
    from transformers import SegformerConfig, SegformerForSemanticSegmentation

    config = SegformerConfig(
        depths=[1, 1, 1, 1], hidden_sizes=[8, 16, 24, 32], decoder_hidden_size=16, num_labels=5
    )
    return SegformerForSemanticSegmentation(config), {"pixel_values": _image(64)}


def wav2vec2():
    from transformers import Wav2Vec2Config, Wav2Vec2Model

    config = Wav2Vec2Config(
        vocab_size=32, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=48, conv_dim=(16, 16), conv_stride=(5, 2), conv_kernel=(10, 3),
        num_feat_extract_layers=2, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4,
    )  # fmt: skip
    sound = torch.randn(2, 800, generator=torch.Generator().manual_seed(1))
    return Wav2Vec2Model(config), {"input_values": sound}


def _encoder(name, **more):
    """An encoder of tokens by the names of its classes, with the common settings."""
    import transformers

    settings = {
        "vocab_size": 64,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 48,
        "max_position_embeddings": 32,
    }
    config = getattr(transformers, f"{name}Config")(**{**settings, **more})
    return getattr(transformers, f"{name}Model")(config), {"input_ids": _tokens()}


def mamba():
    from transformers import MambaConfig, MambaForCausalLM

    config = MambaConfig(
        vocab_size=64, hidden_size=32, state_size=4, num_hidden_layers=2, time_step_rank=4
    )
    return MambaForCausalLM(config), {"input_ids": _tokens(), "use_cache": False}


def xlnet():
    from transformers import XLNetConfig, XLNetModel

    config = XLNetConfig(vocab_size=64, d_model=32, n_layer=2, n_head=4, d_inner=48)
    return XLNetModel(config), {"input_ids": _tokens(), "use_mems": False}


def bloom():
    from transformers import BloomConfig, BloomForCausalLM

    config = BloomConfig(vocab_size=64, hidden_size=32, n_layer=2, n_head=4)
    return BloomForCausalLM(config), {"input_ids": _tokens(), "use_cache": False}


def dinov2():
    from transformers import Dinov2Config, Dinov2Model

    config = Dinov2Config(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, image_size=28, patch_size=14
    )
    return Dinov2Model(config), {"pixel_values": _image(42)}  # resizes its positions


TRANSFORMERS = {
    "bert": bert,
    "gpt2": gpt2,
    "llama": llama,
    "t5": t5,
    "whisper": whisper,
    "clip": clip,
    "vit": vit,
    "distilbert": distilbert,
    "bart": bart,
    "segformer": segformer,
    "wav2vec2": wav2vec2,
    "opt": lambda: _decoder("OPT", ffn_dim=48, word_embed_proj_dim=32),
    "mistral": lambda: _decoder("Mistral", num_key_value_heads=2, sliding_window=4),
    "qwen2": lambda: _decoder("Qwen2", num_key_value_heads=2),
    "gemma": lambda: _decoder("Gemma", num_key_value_heads=2, head_dim=8),
    "falcon": lambda: _decoder("Falcon"),
    "phi": lambda: _decoder("Phi", partial_rotary_factor=0.5),
    "phi3": lambda: _decoder("Phi3", num_key_value_heads=2),
    "gpt_neox": lambda: _decoder("GPTNeoX"),
    "bloom": bloom,
    "mamba": mamba,
    "xlnet": xlnet,
    "dinov2": dinov2,
    "albert": lambda: _encoder("Albert", embedding_size=16),
    "electra": lambda: _encoder("Electra", embedding_size=16),
    "roberta": lambda: _encoder("Roberta", pad_token_id=1),
    "deberta": lambda: _encoder("DebertaV2", relative_attention=True, pos_att_type=["p2c", "c2p"]),
    "mobilebert": lambda: _encoder(
        "MobileBert", embedding_size=16, intra_bottleneck_size=16, true_hidden_size=16
    ),
}


# name -> (size of images, arguments of the constructor)
TORCHVISION = {
    "resnet18": (48, {}),
    "vgg11_bn": (32, {}),
    "densenet121": (32, {}),
    "squeezenet1_1": (48, {}),
    "mobilenet_v2": (32, {}),
    "mobilenet_v3_small": (32, {}),
    "shufflenet_v2_x0_5": (48, {}),
    "efficientnet_b0": (32, {}),
    "regnet_y_400mf": (32, {}),
    "mnasnet0_5": (32, {}),
    "googlenet": (48, {"aux_logits": False, "init_weights": False}),
}
TIMM = {
    "convnext_atto": (32, {}),
    "mixer_s32_224": (64, {"img_size": 64}),
    "vit_tiny_patch16_224": (32, {"img_size": 32}),
    "deit_tiny_patch16_224": (32, {"img_size": 32}),
    "efficientvit_b0": (64, {}),
    "ghostnet_050": (64, {}),
    "resnest14d": (64, {}),
    "poolformer_s12": (64, {}),
    "swin_tiny_patch4_window7_224": (56, {"img_size": 56}),
    "repvgg_a0": (32, {}),
    "hrnet_w18_small": (64, {}),
    "gmlp_s16_224": (32, {"img_size": 32}),
    "mobilevit_xxs": (64, {}),
    "coat_tiny": (64, {"img_size": 64}),
    "edgenext_xx_small": (64, {}),
    "maxvit_rmlp_pico_rw_256": (64, {"img_size": 64}),
    "convnextv2_atto": (64, {}),
    "pvt_v2_b0": (64, {}),
    "res2net50d": (48, {}),
    "mambaout_femto": (64, {}),
    "volo_d1_224": (64, {"img_size": 64}),
    "focalnet_tiny_srf": (64, {}),
}


def torchvision_model(name):
    import torchvision

    size, arguments = TORCHVISION[name]
    model = getattr(torchvision.models, name)(weights=None, num_classes=10, **arguments)
    return model, {"x": _image(size)}


def timm_model(name):
    import timm

    size, arguments = TIMM[name]
    return timm.create_model(name, num_classes=10, **arguments), {"x": _image(size)}


def build(name):
    """A model in evaluation mode and its inputs, for one seed."""
    torch.manual_seed(0)
    if name in TRANSFORMERS:
        model, inputs = TRANSFORMERS[name]()
    elif name in TORCHVISION:
        model, inputs = torchvision_model(name)
    else:
        model, inputs = timm_model(name)
    return model.eval(), inputs


def tensors_of(output):
    """The tensors of an output, in order."""
    if isinstance(output, torch.Tensor):
        return [output]
    if hasattr(output, "to_tuple"):
        output = output.to_tuple()
    if isinstance(output, dict):
        output = list(output.values())
    if isinstance(output, (list, tuple)):
        return [tensor for each in output for tensor in tensors_of(each)]
    return []
