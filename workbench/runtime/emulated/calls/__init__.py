"""The driver's functions, a table per subject: devices and memory, streams and events, graphs."""
