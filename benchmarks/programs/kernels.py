"""The kernels of `workloads.py`. Warp reads the same text with its own name in the place of ours (`program.py`)."""

import workbench as wb

FLOATS, INTS, IMAGE = wb.array(dtype=wb.float32), wb.array(dtype=wb.int32), wb.array(dtype=wb.float32, ndim=2)
VECTORS, FIELD, MATRICES = wb.array(dtype=wb.vec3), wb.array(dtype=wb.vec3, ndim=2), wb.array(dtype=wb.mat33)
GAS, CELLS = wb.array(dtype=wb.float32, ndim=3), wb.array(dtype=wb.uint8, ndim=2)
CX, CY = (0, 1, 0, -1, 0, 1, -1, -1, 1), (0, 0, 1, 0, -1, 1, 1, -1, -1)
SHARE = (4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36)
SIDE = wb.constant(64)


@wb.kernel
def total(x: FLOATS, o: FLOATS):
    """A sum."""
    i = wb.tid()
    wb.atomic_add(o, 0, x[i])


@wb.kernel
def squares(x: FLOATS, o: FLOATS):
    """A sum of squares."""
    i = wb.tid()
    o[0] += x[i] * x[i]


@wb.kernel
def energy(x: IMAGE, o: FLOATS):
    """The same of an image."""
    i, j = wb.tid()
    o[0] += x[i, j] * x[i, j]


@wb.kernel
def extremes(x: FLOATS, lo: FLOATS, hi: FLOATS):
    """The least and the greatest number."""
    i = wb.tid()
    wb.atomic_min(lo, 0, x[i])
    wb.atomic_max(hi, 0, x[i])


@wb.kernel
def bins(x: FLOATS, counts: INTS):
    """A histogram of numbers between 0 and 1."""
    i = wb.tid()
    wb.atomic_add(counts, int(x[i] * 256.0), 1)


@wb.kernel
def scattered(x: FLOATS, at: INTS, o: FLOATS):
    """Additions to elements by index."""
    i = wb.tid()
    wb.atomic_add(o, at[i], x[i])


@wb.kernel
def picked(x: FLOATS, at: INTS, y: FLOATS):
    """Elements by index."""
    i = wb.tid()
    y[i] = x[at[i]]


@wb.kernel
def csr(row: INTS, column: INTS, value: FLOATS, x: FLOATS, y: FLOATS):
    """A sparse matrix times a vector."""
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(row[i], row[i + 1]):
        s += value[k] * x[column[k]]
    y[i] = s


@wb.kernel
def inverses(a: MATRICES, b: MATRICES):
    """Batched 3×3 inverses."""
    i = wb.tid()
    b[i] = wb.inverse(a[i])


@wb.kernel
def singular(a: MATRICES, s: VECTORS):
    """Batched singular values."""
    i = wb.tid()
    _u, d, _v = wb.svd3(a[i])
    s[i] = d


@wb.kernel
def product(x: IMAGE, w: IMAGE, y: IMAGE):
    """A tile of a product per block."""
    i, j = wb.tid()
    found = wb.tile_zeros(shape=(SIDE, SIDE), dtype=wb.float32)
    for k in range(x.shape[1] // SIDE):
        left = wb.tile_load(x, shape=(SIDE, SIDE), offset=(i * SIDE, k * SIDE))
        right = wb.tile_load(w, shape=(SIDE, SIDE), offset=(k * SIDE, j * SIDE))
        wb.tile_matmul(left, right, found)
    wb.tile_store(y, found, offset=(i * SIDE, j * SIDE))


@wb.kernel
def multiplied(x: IMAGE, w: IMAGE, y: IMAGE):
    """A product, an element per thread."""
    i, j = wb.tid()
    s = wb.float32(0.0)
    for k in range(w.shape[0]):
        s += x[i, k] * w[k, j]
    y[i, j] = s


@wb.kernel
def active(x: IMAGE, b: FLOATS, y: IMAGE):
    """A layer's bias and its tanh."""
    i, j = wb.tid()
    y[i, j] = wb.tanh(x[i, j] + b[j])


@wb.kernel
def layer(x: IMAGE, w: IMAGE, b: FLOATS, y: IMAGE):
    """A layer, an element per thread."""
    i, j = wb.tid()
    s = wb.float32(0.0)
    for k in range(w.shape[0]):
        s += x[i, k] * w[k, j]
    y[i, j] = wb.tanh(s + b[j])


@wb.kernel
def valid(x: IMAGE, w: IMAGE, y: IMAGE):
    """A 7×7 convolution of an image with a margin."""
    i, j = wb.tid()
    s = wb.float32(0.0)
    for a in range(7):
        for b in range(7):
            s += x[i + a, j + b] * w[a, b]
    y[i, j] = s


@wb.kernel
def clamped(x: IMAGE, w: IMAGE, y: IMAGE):
    """The same; borders are repeated."""
    i, j = wb.tid()
    s = wb.float32(0.0)
    for a in range(7):
        for b in range(7):
            s += x[wb.clamp(i + a - 3, 0, x.shape[0] - 1), wb.clamp(j + b - 3, 0, x.shape[1] - 1)] * w[a, b]
    y[i, j] = s


@wb.kernel
def periodic(x: IMAGE, w: IMAGE, y: IMAGE):
    """The same; the image goes on at its other side."""
    i, j = wb.tid()
    s = wb.float32(0.0)
    for a in range(7):
        for b in range(7):
            s += x[(i + a - 3) % x.shape[0], (j + b - 3) % x.shape[1]] * w[a, b]
    y[i, j] = s


@wb.kernel
def heat(x: IMAGE, y: IMAGE):
    """A step of heat flow within insulated walls."""
    i, j = wb.tid()
    n, m = x.shape[0], x.shape[1]
    near = x[wb.max(i - 1, 0), j] + x[wb.min(i + 1, n - 1), j] + x[i, wb.max(j - 1, 0)] + x[i, wb.min(j + 1, m - 1)]
    y[i, j] = x[i, j] + 0.1 * (near - 4.0 * x[i, j])


@wb.kernel
def warm_walls(x: IMAGE, y: IMAGE):
    """A step of heat flow between walls that keep their temperature."""
    i, j = wb.tid()
    n, m = x.shape[0], x.shape[1]
    if i > 0 and i < n - 1 and j > 0 and j < m - 1:
        y[i, j] = x[i, j] + 0.1 * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1] - 4.0 * x[i, j])
    else:
        y[i, j] = x[i, j]


@wb.kernel
def ring(x: IMAGE, y: IMAGE):
    """A step of heat flow on a torus."""
    i, j = wb.tid()
    n, m = x.shape[0], x.shape[1]
    near = x[(i - 1) % n, j] + x[(i + 1) % n, j] + x[i, (j - 1) % m] + x[i, (j + 1) % m]
    y[i, j] = x[i, j] + 0.1 * (near - 4.0 * x[i, j])


@wb.kernel
def stream_and_collide(f: GAS, g: GAS):
    """A step of a lattice gas of nine velocities on a torus."""
    i, j = wb.tid()
    n, m = f.shape[1], f.shape[2]
    rho, u, v = wb.float32(0.0), wb.float32(0.0), wb.float32(0.0)
    for q in wb.static(range(9)):
        c = f[wb.static(q), (i - wb.static(CX[q])) % n, (j - wb.static(CY[q])) % m]
        rho += c
        u += wb.static(float(CX[q])) * c
        v += wb.static(float(CY[q])) * c
    u /= rho
    v /= rho
    for q in wb.static(range(9)):
        along = wb.static(float(CX[q])) * u + wb.static(float(CY[q])) * v
        rest = wb.static(SHARE[q]) * rho * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * (u * u + v * v))
        c = f[wb.static(q), (i - wb.static(CX[q])) % n, (j - wb.static(CY[q])) % m]
        g[wb.static(q), i, j] = 0.4 * c + 0.6 * rest


@wb.kernel
def gravity(x: VECTORS, a: VECTORS):
    """What all bodies do to each."""
    i = wb.tid()
    p = x[i]
    s = wb.vec3(0.0, 0.0, 0.0)
    for j in range(x.shape[0]):
        d = x[j] - p
        r = wb.dot(d, d) + 0.01
        s += d / (r * wb.sqrt(r))
    a[i] = s


@wb.func
def pull(p: wb.vec3, q: wb.vec3):
    """The force of a spring of length 0.1 from p to q."""
    d = q - p
    return d * (100.0 - 10.0 / wb.length(d))


@wb.kernel
def cloth(x: FIELD, v: FIELD, y: FIELD, w: FIELD):
    """A step of a cloth of four springs for each point, hung up at its first row."""
    i, j = wb.tid()
    p = x[i, j]
    f = wb.vec3(0.0, -9.8, 0.0) - 0.5 * v[i, j]
    if i > 0:
        f += pull(p, x[i - 1, j])
    if i < x.shape[0] - 1:
        f += pull(p, x[i + 1, j])
    if j > 0:
        f += pull(p, x[i, j - 1])
    if j < x.shape[1] - 1:
        f += pull(p, x[i, j + 1])
    now = v[i, j] + 0.01 * f
    if i == 0:
        now = wb.vec3(0.0, 0.0, 0.0)
    w[i, j] = now
    y[i, j] = p + 0.01 * now


@wb.kernel
def springs(x: VECTORS, a: INTS, b: INTS, f: VECTORS):
    """The forces of springs between masses."""
    e = wb.tid()
    p = pull(x[a[e]], x[b[e]])
    wb.atomic_add(f, a[e], p)
    wb.atomic_add(f, b[e], -p)


@wb.kernel
def moved(x: VECTORS, v: VECTORS, f: VECTORS, y: VECTORS, w: VECTORS):
    """A step of the masses."""
    i = wb.tid()
    now = 0.999 * v[i] + 0.001 * f[i]
    w[i] = now
    y[i] = x[i] + 0.001 * now


@wb.func
def above(p: wb.vec3, h: float):
    """How far a point is above waves of height h, at least."""
    return 0.5 * (p[1] - h * wb.sin(3.0 * p[0]) * wb.sin(3.0 * p[2]))


@wb.kernel
def march(height: FLOATS, depth: IMAGE):
    """How far rays go until they meet waves."""
    i, j = wb.tid()
    way = wb.normalize(wb.vec3(float(i) / float(depth.shape[0]) - 0.5, -1.0, float(j) / float(depth.shape[1]) - 0.5))
    t = wb.float32(0.0)
    for _k in range(64):
        d = above(wb.vec3(0.0, 2.0, 0.0) + way * t, height[0])
        if d < 1.0e-4:
            break
        t += d
    depth[i, j] = t


@wb.kernel
def mandelbrot(counts: wb.array(dtype=wb.int32, ndim=2)):
    """How many turns points stay near."""
    i, j = wb.tid()
    cx = float(j) * 3.0 / float(counts.shape[1]) - 2.0
    cy = float(i) * 2.0 / float(counts.shape[0]) - 1.0
    x, y = wb.float32(0.0), wb.float32(0.0)
    n = wb.int32(0)
    while n < 100 and x * x + y * y < 4.0:
        t = x * x - y * y + cx
        y = 2.0 * x * y + cy
        x = t
        n += 1
    counts[i, j] = n


@wb.kernel
def option(market: FLOATS, paths: float, price: FLOATS):
    """The mean gain of a call at 105 after a year of 64 steps, by price and volatility."""
    i = wb.tid()
    state = wb.rand_init(7, i)
    s, vol = wb.float32(market[0]), wb.float32(market[1])
    for _ in range(64):
        s = s * wb.exp((0.02 - 0.5 * vol * vol) / 64.0 + vol * 0.125 * wb.randn(state))
    price[0] += wb.max(s - 105.0, 0.0) / paths


@wb.kernel
def density(grid: wb.HashGrid, x: VECTORS, radius: float, o: FLOATS):
    """How near the neighbours of a point are."""
    i = wb.tid()
    p = x[i]
    s = wb.float32(0.0)
    for j in wb.hash_grid_query(grid, p, radius):
        d = p - x[j]
        r = radius * radius - wb.dot(d, d)
        if r > 0.0:
            s += r * r * r
    o[i] = s


@wb.kernel
def applied(a: IMAGE, x: FLOATS, y: FLOATS):
    """A matrix times a vector, a row per thread."""
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(a.shape[1]):
        s += a[i, k] * x[k]
    y[i] = s


@wb.kernel
def log_sums(a: IMAGE, y: FLOATS):
    """The logarithm of the sum of exponentials of each row."""
    i = wb.tid()
    m = a[i, 0]
    for k in range(1, a.shape[1]):
        m = wb.max(m, a[i, k])
    s = wb.float32(0.0)
    for k in range(a.shape[1]):
        s += wb.exp(a[i, k] - m)
    y[i] = m + wb.log(s)


@wb.kernel
def distances(x: IMAGE, y: IMAGE, d: IMAGE):
    """The distance of each row from each other one."""
    i, j = wb.tid()
    s = wb.float32(0.0)
    for k in range(x.shape[1]):
        e = x[i, k] - y[j, k]
        s += e * e
    d[i, j] = wb.sqrt(s)


@wb.kernel
def nearest(x: IMAGE, centre: IMAGE, label: INTS):
    """The nearest centre of each row."""
    i = wb.tid()
    best = wb.float32(1e30)
    at = wb.int32(0)
    for j in range(centre.shape[0]):
        s = wb.float32(0.0)
        for k in range(centre.shape[1]):
            e = x[i, k] - centre[j, k]
            s += e * e
        if s < best:
            best = s
            at = j
    label[i] = at


@wb.kernel
def functions(x: FLOATS, y: FLOATS):
    """Several functions of a number."""
    i = wb.tid()
    y[i] = wb.exp(-x[i]) + wb.log(x[i] + 1.0) * wb.tanh(x[i]) + wb.sin(x[i]) + wb.atan2(x[i], 1.5)


@wb.kernel
def life(a: CELLS, b: CELLS):
    """A step of Conway's game on a torus."""
    i, j = wb.tid()
    up = (i + a.shape[0] - 1) % a.shape[0]
    down = (i + 1) % a.shape[0]
    left = (j + a.shape[1] - 1) % a.shape[1]
    right = (j + 1) % a.shape[1]
    own = int(a[i, j])
    s = int(a[up, left]) + int(a[up, j]) + int(a[up, right]) + int(a[i, left]) + int(a[i, right])
    s = s + int(a[down, left]) + int(a[down, j]) + int(a[down, right])
    b[i, j] = wb.uint8(0)
    if s == 3 or (s == 2 and own == 1):
        b[i, j] = wb.uint8(1)
