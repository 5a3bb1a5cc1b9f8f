"""Loops in another form: those that count, those over negative indices, and those that groups of threads share."""
