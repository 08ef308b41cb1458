"""Any number of runs, imports and published systems side by side: one analysis, one page, one terminal."""
