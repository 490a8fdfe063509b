"""Specifications of the IR between passes, and the pass manager."""
