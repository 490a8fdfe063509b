"""The lowered graph becomes a list of nodes."""
