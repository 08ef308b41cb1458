"""A cluster on one machine, for tests and demonstrations: see docs/lab.md."""
