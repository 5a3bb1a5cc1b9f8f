"""Loops in another form: those that count, those over indices that may be negative, the one over threads."""
