"""The methods of a tensor, a mixin per subject. Each checks its arguments and records nodes."""
