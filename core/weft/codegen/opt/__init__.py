"""Choosing and applying the optimisations of one kernel."""
