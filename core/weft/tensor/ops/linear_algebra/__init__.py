"""Linear-algebra methods of a tensor: products, linear equations, factorizations."""
