"""What runs: devices, arrays, loaded kernels, launches, their records, and replay."""
