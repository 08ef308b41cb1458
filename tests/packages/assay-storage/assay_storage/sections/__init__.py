"""Files in a folder: written, made durable, read back."""
