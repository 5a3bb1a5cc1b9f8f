"""Bits of the registers of targets."""

NARROW = 128
"""Bits of registers of which there are too few for groups of several rows."""
MASKED = 256
"""Bits of the vectors of machines that can read a part of one."""
