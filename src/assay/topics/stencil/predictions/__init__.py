"""Predictions, one a file: `predict(known)`."""
