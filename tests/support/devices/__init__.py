"""What stands in a device's place: the emulated device, the mock driver, mock XLA frames."""
