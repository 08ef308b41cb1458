"""Cards of the first page: what each path of messages is good for and what limits it."""
