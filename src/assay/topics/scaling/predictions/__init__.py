"""Predictions, one a file: `predict(known)`, and `expect(known, cases)` before cases are launched."""
