"""Analyses of lowered kernels."""
