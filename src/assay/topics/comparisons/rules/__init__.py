"""Rules, one a file: `rule`."""
