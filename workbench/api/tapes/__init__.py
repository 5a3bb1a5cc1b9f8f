"""The tape: what it records, keeps, cuts and checkpoints, and the walk backwards."""
