"""Pages over many runs, one a file: `view`, see `assay.model.answers`."""
