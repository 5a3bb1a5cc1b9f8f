"""`jax_kernel` and `jax_callable`."""
