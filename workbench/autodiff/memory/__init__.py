"""Loads and stores of one thread: which alias, which are dead, which can be forwarded."""
