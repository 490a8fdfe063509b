"""What to write instead of attributes that tensors of other libraries have, by their names.

In these texts `x` is the tensor. Code comes first, an explanation after a colon.
"""

from __future__ import annotations

COMPLEX = "x.cast(dtypes.complex64): complex numbers have parts of float32 or float64"
SPARSE = "nothing of that kind: all tensors are dense"
QUANTISED = "x.cast(dtypes.int8) and a scale of your own: there are no quantised dtypes"
_SHAPE = "the shape of a tensor does not change in place"
_STORAGE = "memory belongs to the graph of a tensor, see x.uop"

EQUIVALENTS: dict[str, str] = {
    # names of NumPy and tinygrad
    "astype": "x.cast(dtype)",
    "copy": "x.clone()",
    **dict.fromkeys(("cuda", "mps", "xpu", "hpu", "ipu", "mtia", "npu", "tpu"), "x.to(device)"),
    "cpu": "x.to(device), or x.numpy() for the values",
    "get_device": "x.device",
    "fill": "x.fill_(value)",
    "repeat_elements": "x.repeat_interleave(n, dim)",
    "ptp": "x.amax() - x.amin()",
    "tofile": "x.numpy().tofile(path), or weft.save(x, path)",
    "tobytes": "x.numpy().tobytes()",
    "flat": "x.flatten()",
    "nonzero_static": "x.nonzero()",
    "tensor": "weft.tensor(data)",
    "new": "x.new_tensor(data), or x.new_zeros(shape)",
    "softmax_cross_entropy": "x.cross_entropy(y)",
    # functions of networks
    "conv1d": "nn.functional.conv1d(x, ...), or x.conv2d(...) for any number of axes",
    "conv3d": "nn.functional.conv3d(x, ...), or x.conv2d(...) for any number of axes",
    "max_pool1d": "nn.functional.max_pool1d(x, k), or x.max_pool2d(kernel_size=(k,))",
    "avg_pool1d": "nn.functional.avg_pool1d(x, k), or x.avg_pool2d(kernel_size=(k,))",
    "binary_cross_entropy_with_logits": "nn.functional.binary_cross_entropy_with_logits(x, y)",
    "layer_norm": "nn.functional.layer_norm(x, shape), x.layernorm(), or nn.LayerNorm",
    "batch_norm": "nn.functional.batch_norm(x, ...), or nn.BatchNorm2d",
    "group_norm": "nn.functional.group_norm(x, groups), or nn.GroupNorm",
    "rms_norm": "nn.functional.rms_norm(x, shape), or nn.RMSNorm",
    "embedding": "nn.functional.embedding(indices, x), or nn.Embedding",
    # shapes and memory
    "squeeze_": f"x = x.squeeze(): {_SHAPE}",
    "unsqueeze_": f"x = x.unsqueeze(dim): {_SHAPE}",
    "t_": f"x = x.t(): {_SHAPE}",
    "transpose_": f"x = x.transpose(dim0, dim1): {_SHAPE}",
    "swapaxes_": f"x = x.swapaxes(axis0, axis1): {_SHAPE}",
    "swapdims_": f"x = x.swapdims(dim0, dim1): {_SHAPE}",
    **dict.fromkeys(
        ("resize", "resize_", "resize_as", "resize_as_"),
        f"x = x.reshape(...), or x.shrink(...) and x.pad(...): {_SHAPE}",
    ),
    "set_": "x.replace(other, allow_shape_mismatch=True)",
    "detach_": "x = x.detach()",
    "narrow_copy": "x.narrow(dim, start, length).clone()",
    "sum_to_size": "x.sum(axes, keepdim=True)",
    "unsafe_chunk": "x.chunk(chunks, dim)",
    "unsafe_split": "x.split(sizes, dim)",
    "unsafe_split_with_sizes": "x.split(sizes, dim)",
    "as_strided": "x.unfold(dim, size, step), or x.reshape and x.permute: there are no strides",
    "as_strided_": "x = x.unfold(dim, size, step), or x.reshape: there are no strides",
    "as_strided_scatter": "x.clone(), and a write to a view of it: there are no strides",
    "slice_scatter": "y = x.clone(), then y[start:end] = src",
    "diagonal_scatter": "x.clone(), and a write to places by index tensors",
    "diag_embed": "weft.diag_embed(x)",
    "diagflat": "x.flatten().diag()",
    "stride": "x.contiguous() for rows one after the other: strides are no part of a tensor",
    "is_contiguous": "x.contiguous(), which copies nothing of contiguous memory",
    "storage_offset": f"nothing: {_STORAGE}",
    **dict.fromkeys(("storage", "untyped_storage", "storage_type"), f"x.data(): {_STORAGE}"),
    **dict.fromkeys(("data_ptr", "const_data_ptr"), f"x.numpy().ctypes.data: {_STORAGE}"),
    "dim_order": "tuple(range(x.ndim)): there are no strides",
    "is_set_to": "x is y",
    "is_pinned": "False: memory is not pinned by hand",
    "pin_memory": "x itself: memory is not pinned by hand",
    "is_shared": "x.numpy() in memory of your own for other processes, and Tensor.from_blob there",
    "share_memory_": "x.numpy() in shared memory, and Tensor.from_blob: tensors can be pickled",
    "record_stream": "nothing: the runtime keeps memory for as long as a kernel needs it",
    # facts
    **dict.fromkeys(
        "is_cuda is_cpu is_mps is_xpu is_ipu is_xla is_mtia is_maia is_vulkan is_meta".split(),
        "x.device, a string such as that in weft.Device.DEFAULT",
    ),
    "is_nonzero": "x.item() != 0",
    "is_same_size": "x.shape == y.shape",
    "is_signed": "not dtypes.is_unsigned(x.dtype)",
    "is_inference": "x.requires_grad",
    "is_distributed": "x.layout: how it is cut, None on one device",
    "name": "a variable: tensors have no names",
    "names": "x.shape: axes have no names",
    # gradients
    "grad_fn": "x.is_leaf for whether it was computed, x.uop for the graph that it is computed by",
    "grad_dtype": "x.dtype: a gradient has that of its tensor",
    "output_nr": "x.uop: the graph that it is computed by",
    "reinforce": "a loss of the logarithm of the probability, and its backward()",
    "volatile": "with weft.no_grad():",
    "register_post_accumulate_grad_hook": "x.register_hook(function)",
    # arithmetic
    "erfc_": "x.assign(weft.erfc(x))",
    "frexp": "weft.frexp(x)",
    "msort": "x.sort(0).values",
    "mode": "values, counts = x.unique(return_counts=True), then values[counts.argmax()]",
    "unique_consecutive": "x[weft.cat([x[:1] == x[:1], x[1:] != x[:-1]])]",
    "renorm": "x * (maxnorm / x.norm(p, dim, True)).clamp(max=1)",
    "renorm_": "x.mul_((maxnorm / x.norm(p, dim, True)).clamp(max=1))",
    "cauchy_": "x.assign(median + sigma * (x.rand_like() - 0.5).mul(math.pi).tan())",
    "exponential_": "x.assign(-(1 - x.rand_like()).log() / rate)",
    "log_normal_": "x.normal_(mean, std).exp_()",
    "geometric_": "x.assign(((1 - x.rand_like()).log() / math.log(1 - p)).floor() + 1)",
    "histogram": "x.histc(bins, min, max)",
    "index": "x[index]",
    **dict.fromkeys(("index_reduce", "index_reduce_"), "x.scatter_reduce(dim, index, src, reduce)"),
    **dict.fromkeys(("apply_", "map_", "map2_"), "x.assign(...) of operations on whole tensors"),
    **dict.fromkeys(
        "igamma igamma_ igammac igammac_".split(),
        "Tensor(scipy_function(x.numpy())): not yet an operation of tensors",
    ),
    **{
        name + end: f"x.assign({call})" if end else call
        for name, call in {
            "digamma": "weft.digamma(x)", "polygamma": "weft.polygamma(n, x)",
            "lgamma": "weft.lgamma(x)", "mvlgamma": "weft.mvlgamma(x, p)", "i0": "weft.i0(x)",
            "erfinv": "weft.erfinv(x)", "gcd": "weft.gcd(x, y)", "lcm": "weft.lcm(x, y)",
            "ldexp": "weft.ldexp(x, other)", "nextafter": "weft.nextafter(x, other)",
        }.items()
        for end in ("", "_")
    },
    "erfc": "weft.erfc(x)",
    # linear algebra
    "pinverse": "x.pinv()",
    "symeig": "x.eigh()",
    **dict.fromkeys(("triangular_solve", "lu_solve"), "A.solve(x)"),
    "cholesky_solve": "(L @ L.mT).solve(x)",
    "cholesky_inverse": "(x @ x.mT).inv()",
    "lu": "x.solve(y), x.det() or x.inv(): the factors are not given out",
    **dict.fromkeys(("geqrf", "orgqr", "ormqr"), "x.qr()"),
    "matrix_exp": "weft.linalg.matrix_exp(x)",
    # complex numbers, sparse tensors, quantised dtypes
    **dict.fromkeys(
        ("resolve_conj", "resolve_neg"),
        "x itself: conjugates are computed at once",
    ),
    **dict.fromkeys(("H", "mH", "adjoint"), "x.mT.conj()"),
    **dict.fromkeys(("conj_physical", "conj_physical_"), "x.conj()"),
    "isreal": "x.imag == 0", "is_conj": "False: conjugates are computed at once",
    "is_neg": "False: negatives are computed at once",
    **dict.fromkeys(("cfloat", "cdouble", "chalf"), COMPLEX),
    **dict.fromkeys(("stft", "istft"), "weft.stft(x, n_fft), weft.istft(z, n_fft)"),
    **dict.fromkeys(
        "is_sparse is_sparse_csr is_coalesced coalesce indices values crow_indices col_indices "
        "ccol_indices row_indices dense_dim sparse_dim sparse_mask sparse_resize_ "
        "sparse_resize_and_clear_ resize_as_sparse_ to_sparse to_sparse_coo to_sparse_csr "
        "to_sparse_csc to_sparse_bsr to_sparse_bsc smm sspaddmm is_nested to_padded_tensor".split(),
        SPARSE,
    ),
    **dict.fromkeys(("to_dense", "to_mkldnn"), "x itself: all tensors are dense"),
    **dict.fromkeys(
        "is_quantized dequantize int_repr qscheme q_scale q_zero_point q_per_channel_axis "
        "q_per_channel_scales q_per_channel_zero_points".split(),
        QUANTISED,
    ),
}  # fmt: skip
"""name elsewhere -> what to write here"""
