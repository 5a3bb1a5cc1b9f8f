"""A PTX module as its source code has it: tokens, functions, instructions."""
