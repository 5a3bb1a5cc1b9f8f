"""Devices and what they hold: the driver, streams, memory, errors."""
