"""Charts: pure functions from values to Vega-Lite specifications, each with a single `width`."""
