"""Native code of our own on the CPU: the launcher, the scheduler of graphs, locks, copies, stops."""
