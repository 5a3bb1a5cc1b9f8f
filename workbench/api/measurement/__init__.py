"""Measurements: how long calls take, how much they do, and what the machine could do."""
