"""The state of a lowering: the definition, the context, operands and their types, merges of paths."""
