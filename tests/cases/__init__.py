"""Cases that compare methods of Tensor with NumPy and PyTorch."""
