"""Optimisation strategy for launch grids of work items and groups."""
