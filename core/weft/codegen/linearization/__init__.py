"""linearization"""
