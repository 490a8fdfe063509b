"""What several tests use: reference evaluation, graph builders, generators of random kernels."""
