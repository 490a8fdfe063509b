"""File formats: files as lazy tensors, and tensors as files."""

from weft.io.archives import tar_extract, zip_extract
from weft.io.checkpoints import load, save
from weft.io.gguf import ggml_data_to_tensor, gguf_load
from weft.io.gguf_writer import gguf_save
from weft.io.numpy_file import npy_load, npz_load
from weft.io.safetensors import safe_load, safe_load_metadata, safe_save
from weft.io.safetensors_header import Entry, Header
from weft.io.sharded import load_sharded, save_sharded
from weft.io.torch_file import torch_load
from weft.io.windows import TensorIO

__all__ = [
    "Entry",
    "Header",
    "TensorIO",
    "ggml_data_to_tensor",
    "gguf_load",
    "gguf_save",
    "load",
    "load_sharded",
    "npy_load",
    "npz_load",
    "safe_load",
    "safe_load_metadata",
    "safe_save",
    "save",
    "save_sharded",
    "tar_extract",
    "torch_load",
    "zip_extract",
]
