"""Bits of vectors at which a target's instructions change."""

NARROW = 128
"""Bits of registers of which there are too few for gangs of several rows."""
MASKED = 256
"""Bits of the vectors of machines that can read a part of one."""
