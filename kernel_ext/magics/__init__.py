"""The magics: each parses its line and calls a plain function."""
