"""Networks that the examples share: each a class with tensors for attributes and `__call__`."""
