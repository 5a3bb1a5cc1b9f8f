"""What a kernel does besides computing: atomics, faults, prints, and the look at a request to end."""
