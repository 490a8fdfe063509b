"""What to write instead of names of `torch.nn`, `torch.optim` and what belongs to them.

In these texts `x` is a tensor, `module` and `optimizer` are what their names say. Code comes first,
an explanation after a colon.
"""

from __future__ import annotations

_SIZES = "sizes are given"
_GRADIENTS = "x.register_hook(function) of the input or output, or y.gradient(x)"

LAYERS: dict[str, str] = {
    "DataParallel": "nn.parallel.DataParallel(module, mesh)",
    **dict.fromkeys(("UninitializedParameter", "UninitializedBuffer"), f"nn.Parameter: {_SIZES}"),
    "Swish": "nn.SiLU",
    "RMSNorm2d": "nn.RMSNorm",
    "CrossMapLRN2d": "nn.LocalResponseNorm",
    "NLLLoss2d": "nn.NLLLoss",
    "LinearCrossEntropyOptions": "nn.LinearCrossEntropyLoss(...) without options",
    "RNNBase": "nn.RNN, nn.LSTM, nn.GRU",
    "RNNCellBase": "nn.RNNCell, nn.LSTMCell, nn.GRUCell",
    "Container": "nn.Module",
    "Tensor": "weft.Tensor",
    "DataLoader": "weft.data.DataLoader",
    "modules": "the classes are in weft.nn itself",
    "grad": "weft.autograd.grad(y, x), or y.gradient(x)",
    **dict.fromkeys(
        ("quantized", "quantizable", "qat", "intrinsic"),
        "module.to(weft.bfloat16), or weft.autocast: there are no quantised dtypes",
    ),
    # functions and optimisers
    "relu": "nn.functional.relu(x), or nn.ReLU()",
    "softmax": "nn.functional.softmax(x, dim), or nn.Softmax(dim)",
    "cross_entropy": "nn.functional.cross_entropy(x, y), or nn.CrossEntropyLoss()",
    "clip_grad_norm_": "nn.utils.clip_grad_norm_",
    **dict.fromkeys(("Adam", "AdamW", "SGD"), "weft.optim"),
}  # fmt: skip
"""Of `weft.nn`."""

FUNCTIONS: dict[str, str] = {
    "swish": "silu",
    "binary_crossentropy": "binary_cross_entropy",
    "sparse_categorical_crossentropy": "cross_entropy",
    **{f"max_pool{n}d_with_indices": f"max_pool{n}d(x, k, return_indices=True)" for n in (1, 2, 3)},
    **{f"adaptive_max_pool{n}d_with_indices": f"adaptive_max_pool{n}d(x, size, True)"
       for n in (1, 2, 3)},
    "native_channel_shuffle": "channel_shuffle(x, groups)",
    **dict.fromkeys(("grouped_mm", "scaled_mm", "scaled_grouped_mm"), "x @ y"),
    "conv_tbc": "conv1d(x.permute(1, 2, 0), weight)",
    "grad": "weft.autograd.grad(y, x), or y.gradient(x)",
    "Tensor": "weft.Tensor",
}  # fmt: skip
"""Of `weft.nn.functional`."""

OPTIMISERS: dict[str, str] = {
    "SparseAdam": "Adam or AdamW",
    "EPOCH_DEPRECATION_WARNING": "schedule.step() without arguments",
}
"""Of `weft.optim` and `weft.optim.lr_scheduler`."""

OF_OPTIMISERS: dict[str, str] = {
    "state": "optimizer.state_dict()['state']",
    "param_group": "optimizer.param_groups",
    "learning_rate": "optimizer.lr, optimizer.param_groups[0]['lr']",
    "get_last_lr": "the schedule's get_last_lr()",
    **dict.fromkeys(
        "register_step_pre_hook register_step_post_hook profile_hook_step OptimizerPreHook "
        "OptimizerPostHook".split(),
        "a subclass whose step() calls super().step()",
    ),
    **dict.fromkeys(
        "register_state_dict_pre_hook register_state_dict_post_hook "
        "register_load_state_dict_pre_hook register_load_state_dict_post_hook".split(),
        "optimizer.state_dict(), changed where it is saved or loaded",
    ),
}
"""Of an optimiser."""

INITIALISERS: dict[str, str] = {
    "sparse": "init.sparse_",
    "xavier_uniform": "init.glorot_uniform(*shape), or init.xavier_uniform_(tensor)",
    "xavier_normal": "init.glorot_normal(*shape), or init.xavier_normal_(tensor)",
    "glorot_uniform_": "init.xavier_uniform_(tensor)",
    "glorot_normal_": "init.xavier_normal_(tensor)",
    "he_normal_": "init.kaiming_normal_(tensor)",
}
"""Of `weft.nn.init`."""

UTILITIES: dict[str, str] = {
    "clip_grad_norm": "nn.utils.clip_grad_norm_",
    "clip_grad": "nn.utils.clip_grad_norm_, nn.utils.clip_grad_value_",
    "prune": "nn.utils.parametrize, with a module that multiplies by a mask",
    **dict.fromkeys(
        ("convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format",
         "memory_format"),
        "module.weight.permute(...): the order of the axes is the order in memory",
    ),
}  # fmt: skip
"""Of `weft.nn.utils`."""

OF_MODULES: dict[str, str] = {
    **dict.fromkeys(("cuda", "cpu", "xpu", "ipu", "mtia", "mps"), "module.to(device)"),
    "type": "module.to(dtype)",
    "device": "next(module.parameters()).device",
    "dtype": "next(module.parameters()).dtype",
    "compile": "weft.jit(module)",
    "get_parameter": "dict(module.named_parameters())[name]",
    "get_buffer": "dict(module.named_buffers())[name]",
    "set_submodule": "setattr(module.get_submodule(path), name, new)",
    "reset_parameters": "a new module, or nn.init.kaiming_uniform_(module.weight)",
    "to_empty": "module.to(device)",
    "share_memory": "weft.save(module.state_dict(), path), loaded by every process",
    **dict.fromkeys(
        ("register_full_backward_hook", "register_full_backward_pre_hook",
         "register_backward_hook"),
        _GRADIENTS,
    ),
    **dict.fromkeys(
        "register_state_dict_pre_hook register_state_dict_post_hook "
        "register_load_state_dict_pre_hook register_load_state_dict_post_hook "
        "get_extra_state set_extra_state".split(),
        "module.register_buffer(name, tensor), or state_dict() and load_state_dict() of a subclass",
    ),
    "call_super_init": "super().__init__(), once, before attributes are set",
    **dict.fromkeys(("T_destination", "dump_patches"), "module.state_dict()"),
    "fit": "a loop: optimizer.zero_grad(), loss.backward(), optimizer.step()",
    "predict": "module.eval(), then module(x)",
    "summary": "print(module), sum(p.numel() for p in module.parameters())",
    "weights": "module.weight, or module.state_dict()",
}  # fmt: skip
"""Of a module."""
