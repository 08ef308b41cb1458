"""Figures in the forms that other people's tools take."""
