"""What cores compute, and how fast they reach each other."""
