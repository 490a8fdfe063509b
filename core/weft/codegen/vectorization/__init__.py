"""vectorization"""
