"""Software prefetch: one module for each access pattern."""
