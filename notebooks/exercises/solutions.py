"""What belongs into the holes of the exercises, in their order. Try first."""

SOLUTIONS: dict[str, tuple[str, ...]] = {
    "01-kernels": (
        "gain * picture[i, j]",
        "picture.shape[1] - 1 - j",
        "max(i - 1, 0)",
        "min(i + 1, x.shape[0] - 1)",
        "atomic_add(count, 0, 1)",
        "v - 9.81 * dt",
        "h + v * dt",
    ),
    "02-gradients": (
        "-2 * x * np.exp(-x * x)",
        "difference * difference",
        "line[k] - rate * slope[k]",
        "where(x[i] != 0.0, sqrt(abs(x[i])), 0.0)",
    ),
    "03-memory": (
        "a[k, i]",
        "i + k * threads",
        "(i // 32) % 2 == 0",
        "s + x[i + k * threads]",
    ),
}
