"""Accesses to elements of arrays: which are needed, which are the own thread's, which change a part."""
