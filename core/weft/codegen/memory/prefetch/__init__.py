"""prefetch"""
