"""What other systems run in `workloads.py`."""
