"""Values between JAX and kernels, and what is known of them when JAX traces."""
