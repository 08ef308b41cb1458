"""Declarations, one a file."""
