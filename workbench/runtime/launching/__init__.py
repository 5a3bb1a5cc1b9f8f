"""One launch as a value, and its execution."""
