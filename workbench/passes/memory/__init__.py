"""Accesses to elements of arrays: which can be left out or moved, and which have to be atomic."""
