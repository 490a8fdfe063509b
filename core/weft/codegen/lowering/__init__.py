"""Lowering of views to loops and addresses."""
