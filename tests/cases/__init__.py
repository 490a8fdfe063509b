"""Cases that methods of Tensor are tested with beside NumPy and PyTorch."""
