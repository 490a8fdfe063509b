"""What is legal between the passes, and how a pass is run."""
