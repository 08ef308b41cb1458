"""The cost of messages: time by size in pieces, many pairs at once, limits of a link. Pure functions."""
