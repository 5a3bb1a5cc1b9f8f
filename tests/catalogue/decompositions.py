"""Decompositions, rotations and inverse functions. Bodies as in `loops`, away from repeated values."""

from __future__ import annotations

DECOMPOSITIONS: dict[str, str] = {
    "svd2": "U, s, V = svd2(mat22d(x[i], x[i + 1], w[i, 0], w[i, 1]))\ny[i] = s[0] * U[0, 1] + s[1] * V[1, 0] * a",
    "qr2, in a loop": """m = mat22d(x[i], a, w[i, 0], x[i + 1])
for j in range(n):
    Q, R = qr2(m)
    m = R * 0.7 + Q * x[j] * 0.5
y[i] = m[0, 1] * m[1, 1]""",
    "eig2": "Q, e = eig2(mat22d(x[i], w[i, 0], w[i, 0], -x[i + 1]))\ny[i] = e[0] * Q[0, 0] + e[1] * Q[1, 0] * a",
    "qr3 that names its results": """Q, R = mat33d(), mat33d()
qr3(mat33d(x[0], p[0].x, p[0].y, p[0].z, x[i], p[1].x, p[1].y, p[1].z, x[i + 3]), Q, R)
y[i] = R[0, 2] * Q[1, 1] + R[2, 2] * a""",
    "eig3 that names its results": """Q, e = mat33d(), vec3d()
eig3(mat33d(x[0], p[0].x, p[0].y, p[0].x, -x[i], p[1].x, p[0].y, p[1].x, 2.0 + a), Q, e)
y[i] = e[0] * Q[0, 0] + e[1] * Q[1, 1] + e[2] * Q[2, 2]""",
    "svd3 that names its results": """U, s, V = mat33d(), vec3d(), mat33d()
svd3(mat33d(x[0], p[0].x, p[0].y, p[0].z, -x[i], p[1].x, p[1].y, p[1].z, 2.0 + a), U, s, V)
y[i] = s[0] * U[0, 1] + s[1] * V[1, 1] + s[2]""",
    "angles there and back": """q = quat_rpy(x[i] * 0.5, a, w[i, 0]) * quat_from_euler(p[i], 2, 0, 1)
e = quat_to_rpy(quat_from_matrix(quat_to_matrix(q)))
p[i] = e
y[i] = e.x * e.z""",
    "erfcinv": "y[i] = erfcinv(x[i]) * a + erfinv(0.6 * w[i, 0])",
}
