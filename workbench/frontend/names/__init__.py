"""What names, annotations and overloads mean."""
