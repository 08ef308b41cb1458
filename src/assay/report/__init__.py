"""What people read: the terminal report, the HTML report, tables. Pure renderers of a Run and its Analysis."""
