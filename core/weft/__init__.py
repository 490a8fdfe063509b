"""weft: a tensor compiler whose every device is a plugin."""
