"""Values of the language as Python has them."""
