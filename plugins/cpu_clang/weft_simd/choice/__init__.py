"""The choice of loop transformations for one processor with vector registers."""
