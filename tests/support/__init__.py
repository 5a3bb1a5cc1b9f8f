"""What tests share; a module here holds no test."""
