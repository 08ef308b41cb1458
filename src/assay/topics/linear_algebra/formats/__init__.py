"""Tables as other programs print them, one format a file: `tables(analysis, run)`, `needs` and `remedy`."""
