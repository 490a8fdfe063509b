"""Files as lazy tensors, and tensors as files."""

from weft.io.safetensors import safe_load, safe_load_metadata, safe_save
from weft.io.safetensors_header import Entry, Header

__all__ = ["Entry", "Header", "safe_load", "safe_load_metadata", "safe_save"]
