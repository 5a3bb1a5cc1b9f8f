"""Gradient noise: names that the front end lowers to arithmetic on hashed lattice points.

Perlin, "Improving Noise" (SIGGRAPH 2002): a random slope at each whole-numbered point, joined by the quintic fade. The
slopes are hashes of the point and the state (see `randoms`), so that noise needs no table, and any state is a noise of
its own.
"""

from __future__ import annotations

from workbench.builtins.declaration.declare import form

_NOISE = (
    "It is 0 at whole-numbered points, twice differentiable, of mean 0, and at most half the number of dimensions in "
    "magnitude. `state` is a uint32 as rand_init gives it; it is read, not advanced."
)

form("noise(state, x)", f"Smooth noise over a float or a vector of 2 to 4 floats x. {_NOISE}")
form(
    "pnoise(state, x, px, …)",
    "noise that repeats: px, py, … (one positive int32 for each component of x) are the periods along the axes.",
)
form(
    "curlnoise(state, x)",
    "A field without sources, of noise: for a vec2 the rotated gradient of one noise, for a vec3 the curl of three. It "
    "is once differentiable.",
)
