"""Exported programs: written, and made to run in another process."""
