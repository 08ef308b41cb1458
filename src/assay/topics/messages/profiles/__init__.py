"""Conclusions, one a file: `profiles(evidence, findings)`."""
