"""What messages cost: time by size in pieces, many pairs at once, what a link can carry. Pure functions."""
