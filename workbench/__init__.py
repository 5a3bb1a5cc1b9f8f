"""Workbench: write a GPU kernel in a notebook cell, run it, differentiate it, see it."""
