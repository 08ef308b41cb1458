"""Limits, one a file: `law`."""
