"""Launches as values, and their execution."""
