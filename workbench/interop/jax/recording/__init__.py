"""Calls that XLA made, as entries of a record."""
