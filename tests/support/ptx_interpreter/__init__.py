"""A plain interpreter of PTX on NumPy: what the compiled form is compared with."""
