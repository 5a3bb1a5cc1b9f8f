"""The vectors of a target, and the preferences of its code generator."""
