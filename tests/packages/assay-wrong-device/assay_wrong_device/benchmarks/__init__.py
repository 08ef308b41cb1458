"""A program that says that it opened another device."""
