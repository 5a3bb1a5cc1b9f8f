"""Algorithms on whole arrays: scans, sorts, run lengths, histograms and sums, written in the kernel language."""
