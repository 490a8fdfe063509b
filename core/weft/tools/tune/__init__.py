"""Tuning: measure a machine, search the kernels of a program, keep and export what was found."""
