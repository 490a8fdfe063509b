"""The table of operations: methods of Tensor on every dtype, compared with a reference."""
