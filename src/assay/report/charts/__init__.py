"""Charts: pure functions from values to Vega-Lite specifications. Each has a single `width` that a page may set."""
