"""What stands for Warp's submodules."""
