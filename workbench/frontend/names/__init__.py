"""Names, annotations and overloads."""
