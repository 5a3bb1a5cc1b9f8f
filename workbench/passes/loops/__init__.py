"""Loops in another form: those that count, those over negative indices, and additions behind what is computed."""
