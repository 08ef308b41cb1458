"""Messages between two processes or many pairs, inside a node and between nodes."""
