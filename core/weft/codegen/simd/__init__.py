"""Optimisation strategy for one processor with vector registers."""
