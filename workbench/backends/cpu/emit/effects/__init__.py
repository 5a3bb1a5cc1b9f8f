"""Effects of a kernel: atomics, faults, prints, and the look at a request to end."""
