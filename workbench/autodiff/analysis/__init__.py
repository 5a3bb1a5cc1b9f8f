"""Which values need cotangents, and why a derivative depends on what."""
