"""Other libraries' arrays and compilers: each folder imports its library only when one of its functions is called."""
