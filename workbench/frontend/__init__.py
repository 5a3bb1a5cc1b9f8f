"""Text to IR: the kernel language's syntax, names and types."""
