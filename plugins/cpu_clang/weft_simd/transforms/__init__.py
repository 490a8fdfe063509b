"""Passes on graphs and lists of one processor's kernels."""
