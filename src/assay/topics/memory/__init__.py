"""Memory and caches: bandwidth, latency, and what placements of pages cost."""
