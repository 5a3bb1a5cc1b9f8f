"""What the vectors of a target can do, and what its code generator should prefer."""
