"""Stencil codes: the Himeno benchmark."""
