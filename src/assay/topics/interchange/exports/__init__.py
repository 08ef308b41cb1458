"""A form a module: `export` says what `assay export --format` writes."""
