"""What loops carry: floats, integers, flags, vectors, random states. Bodies as in `loops`."""

from __future__ import annotations

STATES: dict[str, str] = {
    "two coupled": "u = x[i]\nv = 1.0 * a\nfor j in range(n):\n    u, v = u * v, u + v * x[j]\ny[i] = u * 0.01 + v",
    "exchanged": "u = x[i]\nv = 1.0 * a\nfor j in range(n):\n    u, v = v * u, u\ny[i] = u + v * v",
    "Fibonacci of products": """u = x[i]
v = 1.0 * a
for j in range(n):
    t = u * v
    u = v
    v = sin(t) * 0.5 + x[j]
y[i] = v""",
    "rotation": """u = x[i]
v = 1.0 * a
for j in range(n):
    c = cos(x[j])
    s = sin(x[j])
    t = u * c - v * s
    v = u * s + v * c
    u = t
y[i] = u * v""",
    "pendulum": """q = x[i]
v = 1.0 * a
for j in range(n * 5):
    v = v - 0.1 * sin(q)
    q = q + 0.1 * v
y[i] = q * v""",
    "logistic map": "s = x[i] * 0.4\nfor j in range(n):\n    s = 3.6 * s * (1.0 - s)\ny[i] = s * a",
    "continued fraction": "s = 1.0 + x[i]\nfor j in range(n):\n    s = x[j] + 1.0 / s\ny[i] = s * a",
    "Horner": "s = x[5] * 1.0\nfor j in range(4, -1, -1):\n    s = s * a + x[j]\ny[i] = s",
    "an index that wanders": """s = x[i]
c = 1
for j in range(n):
    s = s * x[c] + a
    c = (c * 3 + 1) % 5
y[i] = s""",
    "an index from an array": "s = x[i]\nc = 0\nfor j in range(n):\n    s = s * x[c] + a\n    c = at[c % 3]\ny[i] = s",
    "a flag": """s = x[i]
f = i > 0
for j in range(n):
    if f:
        s = s * x[j]
    else:
        s = sin(s) + a
    f = not f
y[i] = s""",
    "a flag from the value": """s = x[i]
up = True
for j in range(n):
    if up:
        s = s * 1.6
    else:
        s = s * 0.5 + 0.1 * x[j]
    if s > 2.0:
        up = False
    if s < 0.7:
        up = True
y[i] = s * s""",
    "a small integer": """s = x[i]
c = uint8(250)
for j in range(n):
    s = s * (1.0 + float64(c) * 0.002) * a
    c = c + uint8(3)
y[i] = s""",
    "a counter down": "s = x[i]\nc = 5\nfor j in range(n):\n    s = s * x[c] + a\n    c -= 1\ny[i] = s",
    "a bit pattern": """s = x[i]
c = 45
for j in range(n):
    if c & 1 == 1:
        s = s * x[j]
    c = c >> 1
    s = s + a
y[i] = s""",
    "collatz beside a float": """s = x[i]
c = i + 3
while c != 1:
    if c % 2 == 0:
        c = c // 2
        s = s * 0.9 + 0.1 * sin(s)
    else:
        c = 3 * c + 1
        s = s * 1.1 + 0.01 * s * s
y[i] = s * a""",
    "counts how often": """s = x[i]
c = 0
for j in range(n):
    s = s * x[j] + 0.4
    if s > 1.1:
        c += 1
        s = s * 0.6
y[i] = s * float64(c + 1)""",
    "float32 in between": "s = x[i]\nfor j in range(n):\n    s = s * x[j] + a\ny[i] = s * float64(int(s * 0.0) + 2)",
    "an integer cast cuts": """s = x[i]
for j in range(n):
    s = s * 0.9 + x[j] * float64(int(s * 3.3 + 0.05))
y[i] = s""",
    "vector": "v = p[i]\nfor j in range(n):\n    v = v * 0.7 + cross(v, p[j % 4])\ny[i] = dot(v, v)",
    "vector components by turns": """v = p[i]
for j in range(n):
    v.x = v.y * x[j]
    v.y = sin(v.z) + v.x
    v.z = v.x * v.y
y[i] = v.x + v.y * a""",
    "a component many times": """v = p[i]
for j in range(n):
    v[1] = v[1] * v[0] + x[j]
    v[1] = v[1] * a
y[i] = v[1]""",
    "a component by a run-time index": """v = p[i]
for j in range(n):
    v[j % 3] = v[(j + 1) % 3] * x[j] + a
y[i] = dot(v, p[i])""",
    "components without a loop": "v = p[i]\nv.x = v.y * v.z\nv.y = v.x * v.x\nv.x = v.x + v.y * a\ny[i] = v.x * v.z",
    "swizzled": """v = p[i]
for j in range(n):
    v = vec3d(v.z, v.x * v.y, v.y) * 0.8 + p[j % 4] * a
y[i] = v.x * v.z""",
    "normalised": """v = p[i]
for j in range(n):
    v = normalize(v + cross(v, p[j % 4]) * x[j])
y[i] = v.x * v.y + v.z""",
    "length in the test": "v = p[i]\nwhile length(v) < 9.0:\n    v = v * 1.4 + p[0] * a\ny[i] = v.x * v.y",
    "matrix": """m = mat22d(x[0], 0.1 * a, 0.2 * a, x[1])
v = vec2d(x[i], 1.0)
for j in range(n):
    v = m @ v
    m[0, 1] = m[0, 1] * v.x * 0.3
y[i] = v.x * v.y""",
    "matrix power": """m = mat22d(x[0], 0.3 * a, 0.2, x[1])
r = m
for j in range(n):
    r = r @ m
y[i] = r[0, 0] * r[1, 1] - r[0, 1] * x[i]""",
    "quaternion": """q = quatd(0.1 * x[0], 0.2 * x[1], 0.1 * a, 1.0)
v = p[i]
for j in range(n):
    q = normalize(q * quatd(0.02 * x[j], 0.1, 0.0, 1.0))
    v = quat_rotate(q, v)
y[i] = v.x * v.y + v.z""",
    "random numbers inside": """s = x[i]
state = rand_init(7, i)
for j in range(n):
    s = s * (0.5 + float64(randf(state))) + a
y[i] = s""",
    "random walk that stops": """s = x[i]
state = rand_init(11, i)
while s < 4.0:
    s = s + float64(randf(state)) * s * a + 0.01
y[i] = s * s""",
    "where with a pole": """s = x[i]
for j in range(n):
    s = where(s > 0.5, s * 0.8 + 0.1 * x[j], sqrt(s - 5.0)) + where(j > 1, 0.2, 0.1) * a
y[i] = s""",
    "a root kept from negative numbers": """s = x[i]
for j in range(n):
    t = x[j] - 1.0
    if t > 0.0:
        s = s + sqrt(t) * s
    else:
        s = s * 0.9
y[i] = s""",
    "0 to a power, not used": """s = x[i]
for j in range(n):
    z = float64(j)
    if j > 0:
        s = s + sqrt(z * s)
y[i] = s * a""",
}
