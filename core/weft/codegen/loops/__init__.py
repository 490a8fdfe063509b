"""Loop transformations."""
