"""Stand-ins for Warp's submodules."""
