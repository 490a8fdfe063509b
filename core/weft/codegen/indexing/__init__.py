"""Passes over indexed loads and stores."""
