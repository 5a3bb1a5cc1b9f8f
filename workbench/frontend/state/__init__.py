"""What lowering knows: the definition, the context, operands and their types, where paths merge."""
