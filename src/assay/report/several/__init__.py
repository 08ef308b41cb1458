"""Runs, imports and published systems beside each other: a page, words and tables."""
