"""Neural-network methods of a tensor: activations, convolutions, normalization, attention, losses."""
