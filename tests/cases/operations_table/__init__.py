"""The table of operations: every public method of Tensor on every dtype beside its reference."""
