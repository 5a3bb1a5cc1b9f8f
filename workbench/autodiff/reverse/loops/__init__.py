"""Loops backwards, and the states that are kept for them."""
