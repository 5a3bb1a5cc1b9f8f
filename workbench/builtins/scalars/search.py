"""Search in sorted arrays: names that the front end lowers to a loop of halving steps."""

from __future__ import annotations

from workbench.builtins.declaration.declare import form

form(
    "lower_bound(array, begin=…, end=…, value)",
    "In a sorted array of one dimension, the first index whose element is not below the value (an int32); the length "
    "where all are below it. `lower_bound(array, begin, end, value)` looks at begin ≤ index < end alone, cut to the "
    "array, and gives `end` where all are below the value, `begin` where the range is empty.",
)
form(
    "sample_cdf(state, cdf)",
    "An index (an int32) drawn with the probabilities whose running sum, ending in 1, is the array `cdf`: "
    "lower_bound(cdf, randf(state)), the last index at most. It advances the local name `state` in place; inside a "
    "func that is the func's own.",
)
