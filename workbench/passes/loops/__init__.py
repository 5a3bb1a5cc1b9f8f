"""Loops and launches in another form: counted, split at 0, flattened by rows, turned into threads, apart at borders."""
