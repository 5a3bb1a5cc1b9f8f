"""Why a number is what it is: explained gradients, the first NaN, one thread step by step."""
