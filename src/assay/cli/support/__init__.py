"""What several commands share; no module here is a command."""
