"""Names and annotations: their meaning, and statements that are rewritten before they are lowered."""
