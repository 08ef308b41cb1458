"""Applications, each a table `[application]` of a TOML file: docs/applications.md."""
