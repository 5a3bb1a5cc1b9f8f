"""Other libraries' spelling over Workbench, for programs that were written for them."""
