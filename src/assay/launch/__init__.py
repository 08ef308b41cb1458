"""Launchers: pure translators from a placed launch to a command line. They start nothing."""
