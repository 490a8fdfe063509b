"""A stand-in for pycuda where it is not installed: no wheel of it is published, and building one
takes CUDA's headers and a minute. See `driver`."""
