"""Rows of threads: those inside apart from those at a border, and launches that are flattened."""
