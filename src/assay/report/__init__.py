"""The terminal report, the HTML report and tables: pure renderers of a Run and its Analysis."""
