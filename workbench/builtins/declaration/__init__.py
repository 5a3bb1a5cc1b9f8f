"""How a builtin is declared: type rules, meaning, derivatives, and the table of all."""
