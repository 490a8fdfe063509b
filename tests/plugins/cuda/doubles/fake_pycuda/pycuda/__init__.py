"""A double of pycuda for machines without it: no wheel of it is published, and building one
takes CUDA's headers and a minute. See `driver`."""
