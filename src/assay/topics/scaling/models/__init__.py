"""Fitted laws, one a file: `fit(known)`."""
