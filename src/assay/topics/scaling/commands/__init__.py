"""Commands, one a file: `command`, see `assay.model.answers`."""
