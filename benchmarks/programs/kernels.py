"""The kernels of `workloads.py`. Warp reads the same text with its own name in the place of ours (`program.py`)."""

import workbench as wb

FLOATS, INTS, IMAGE = wb.array(dtype=wb.float32), wb.array(dtype=wb.int32), wb.array(dtype=wb.float32, ndim=2)
VECTORS, FIELD, MATRICES = wb.array(dtype=wb.vec3), wb.array(dtype=wb.vec3, ndim=2), wb.array(dtype=wb.mat33)
GAS, CELLS = wb.array(dtype=wb.float32, ndim=3), wb.array(dtype=wb.uint8, ndim=2)
HALVES = wb.array(dtype=wb.float16)
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


@wb.kernel
def flat_heat(x: FLOATS, w: int, h: int, y: FLOATS):
    """A step of heat flow between walls that keep their temperature, of an image in one row."""
    i = wb.tid()
    r = i // w
    c = i % w
    if r > 0 and r < h - 1 and c > 0 and c < w - 1:
        y[i] = x[i] + 0.1 * (x[i - w] + x[i + w] + x[i - 1] + x[i + 1] - 4.0 * x[i])
    else:
        y[i] = x[i]


@wb.kernel
def flat_product(p: FLOATS, q: FLOATS, n: int, y: FLOATS):
    """Each element of one row times each of another, by a flattened index."""
    i = wb.tid()
    y[i] = p[i // n] * q[i % n]


@wb.kernel
def divided(x: INTS, n: int, y: INTS):
    """The quotient and the remainder of integers by one that all threads share."""
    i = wb.tid()
    y[i] = x[i] // n + x[i] % n


@wb.kernel
def until(x: IMAGE, most: float, y: FLOATS):
    """The sum of a row's squares until it passes a bound."""
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(24):
        if s > most:
            break
        s += x[i, k] * x[i, k]
    y[i] = s


@wb.kernel
def counting(x: IMAGE, y: FLOATS):
    """The sum of a row's squares by a `while` that counts."""
    i = wb.tid()
    s = wb.float32(0.0)
    k = wb.int32(0)
    while k < x.shape[1]:
        s += x[i, k] * x[i, k]
        k += 1
    y[i] = s


@wb.kernel
def embedded(table: IMAGE, at: wb.array(dtype=wb.int32, ndim=2), y: IMAGE):
    """Sums of rows of a table by index."""
    i, j = wb.tid()
    s = wb.float32(0.0)
    for k in range(at.shape[1]):
        s += table[at[i, k], j]
    y[i, j] = s


@wb.kernel
def csr_rows(row: INTS, column: INTS, value: FLOATS, x: IMAGE, y: IMAGE):
    """A sparse matrix times a dense one."""
    i, j = wb.tid()
    s = wb.float32(0.0)
    for k in range(row[i], row[i + 1]):
        s += value[k] * x[column[k], j]
    y[i, j] = s


@wb.kernel
def walled_life(a: CELLS, b: CELLS):
    """A step of Conway's game within walls where nothing lives."""
    i, j = wb.tid()
    if i > 0 and i < a.shape[0] - 1 and j > 0 and j < a.shape[1] - 1:
        s = int(a[i - 1, j - 1]) + int(a[i - 1, j]) + int(a[i - 1, j + 1]) + int(a[i, j - 1]) + int(a[i, j + 1])
        s = s + int(a[i + 1, j - 1]) + int(a[i + 1, j]) + int(a[i + 1, j + 1])
        if s == 3 or (s == 2 and int(a[i, j]) == 1):
            b[i, j] = wb.uint8(1)
        else:
            b[i, j] = wb.uint8(0)


@wb.kernel
def sobel(a: CELLS, b: CELLS):
    """The edges of a grey image, by the greater of two slopes; the border stays."""
    i, j = wb.tid()
    if i > 0 and i < a.shape[0] - 1 and j > 0 and j < a.shape[1] - 1:
        n, s = int(a[i - 1, j]), int(a[i + 1, j])
        w, e = int(a[i, j - 1]), int(a[i, j + 1])
        nw, ne = int(a[i - 1, j - 1]), int(a[i - 1, j + 1])
        sw, se = int(a[i + 1, j - 1]), int(a[i + 1, j + 1])
        u = ne + 2 * e + se - nw - 2 * w - sw
        v = sw + 2 * s + se - nw - 2 * n - ne
        b[i, j] = wb.uint8(wb.min(wb.max(wb.abs(u), wb.abs(v)), 255))


@wb.kernel
def levels(x: wb.array(dtype=wb.uint8), counts: INTS):
    """A histogram of bytes."""
    i = wb.tid()
    wb.atomic_add(counts, int(x[i]), 1)


@wb.kernel
def half_axpy(a: wb.float16, x: HALVES, y: HALVES, z: HALVES):
    """A multiple of halves, and others, added."""
    i = wb.tid()
    z[i] = a * x[i] + y[i]


@wb.kernel
def half_rows(x: wb.array(dtype=wb.float16, ndim=2), y: FLOATS):
    """The sum of squares of a row of halves, in float32."""
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(x.shape[1]):
        v = wb.float32(x[i, k])
        s += v * v
    y[i] = s


@wb.kernel
def matrices(a: wb.array(dtype=wb.mat44), b: wb.array(dtype=wb.mat44), c: wb.array(dtype=wb.mat44)):
    """Batched 4×4 products."""
    i = wb.tid()
    c[i] = a[i] @ b[i]


@wb.kernel
def component(v: wb.array(dtype=wb.vec4), at: INTS, y: FLOATS):
    """A component of each vector, by index."""
    i = wb.tid()
    p = v[i]
    y[i] = p[at[i]]


@wb.kernel
def component_set(v: wb.array(dtype=wb.vec4), at: INTS, y: FLOATS):
    """Vectors of which a component by index is replaced, squared."""
    i = wb.tid()
    p = v[i]
    p[at[i]] = 2.0
    y[i] = wb.dot(p, p)


@wb.struct
class Body:
    """Eighteen numbers: where a body is, how it turns, and what acts on it."""

    x: wb.float32
    y: wb.float32
    z: wb.float32
    u: wb.float32
    v: wb.float32
    w: wb.float32
    a: wb.float32
    b: wb.float32
    c: wb.float32
    p: wb.float32
    q: wb.float32
    r: wb.float32
    d: wb.float32
    e: wb.float32
    f: wb.float32
    m: wb.float32
    n: wb.float32
    o: wb.float32


@wb.func
def stepped(s: Body, dt: float):
    """A body after a step."""
    s.u = s.u + dt * s.d / s.m
    s.v = s.v + dt * s.e / s.m
    s.w = s.w + dt * s.f / s.m
    s.x = s.x + dt * s.u
    s.y = s.y + dt * s.v
    s.z = s.z + dt * s.w
    s.a = s.a + dt * s.p * s.n
    s.b = s.b + dt * s.q * s.n
    s.c = s.c + dt * s.r * s.o
    return s


@wb.kernel
def bodies(s: IMAGE, dt: float, y: FLOATS):
    """Bodies, read into a struct, that take eight steps; of each a sum comes out."""
    i = wb.tid()
    b = Body()
    b.x = s[i, 0]
    b.y = s[i, 1]
    b.z = s[i, 2]
    b.u = s[i, 3]
    b.v = s[i, 4]
    b.w = s[i, 5]
    b.a = s[i, 6]
    b.b = s[i, 7]
    b.c = s[i, 8]
    b.p = s[i, 9]
    b.q = s[i, 10]
    b.r = s[i, 11]
    b.d = s[i, 12]
    b.e = s[i, 13]
    b.f = s[i, 14]
    b.m = s[i, 15]
    b.n = s[i, 16]
    b.o = s[i, 17]
    for _k in range(8):
        b = stepped(b, dt)
    y[i] = b.x * b.a + b.y * b.b + b.z * b.c


@wb.kernel
def kept_bodies(s: wb.array(dtype=Body), dt: float, y: FLOATS):
    """The same of an array of structs, a step."""
    i = wb.tid()
    b = stepped(s[i], dt)
    y[i] = b.x * b.a + b.y * b.b + b.z * b.c


@wb.kernel
def attend(q: IMAGE, k: IMAGE, v: IMAGE, p: IMAGE, e: IMAGE, o: IMAGE):
    """A query's attention, a thread for each; `p` and `e` have its scores and their exponentials."""
    i = wb.tid()
    m = wb.float32(-1e30)
    for j in range(k.shape[0]):
        s = wb.float32(0.0)
        for d in range(k.shape[1]):
            s += q[i, d] * k[j, d]
        p[i, j] = 0.125 * s
        m = wb.max(m, 0.125 * s)
    z = wb.float32(0.0)
    for j in range(k.shape[0]):
        e[i, j] = wb.exp(p[i, j] - m)
        z += e[i, j]
    for d in range(v.shape[1]):
        t = wb.float32(0.0)
        for j in range(k.shape[0]):
            t += e[i, j] * v[j, d]
        o[i, d] = t / z


@wb.kernel
def perceptron(x: IMAGE, w: IMAGE, v: IMAGE, h: IMAGE, y: IMAGE):
    """Two layers, a thread for each input; `h` has what lies between."""
    i = wb.tid()
    for j in range(w.shape[1]):
        s = wb.float32(0.0)
        for k in range(w.shape[0]):
            s += x[i, k] * w[k, j]
        h[i, j] = wb.max(s, 0.0)
    for j in range(v.shape[1]):
        s = wb.float32(0.0)
        for k in range(v.shape[0]):
            s += h[i, k] * v[k, j]
        y[i, j] = s


@wb.kernel
def running(x: FLOATS, each: int, y: FLOATS):
    """The running sums of a part of an array per thread."""
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(i * each, (i + 1) * each):
        s += x[k]
        y[k] = s


@wb.kernel
def recurrence(x: FLOATS, each: int, y: FLOATS):
    """A filter of one pole over a part of an array per thread."""
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(i * each, (i + 1) * each):
        s = 0.9 * s + x[k]
        y[k] = s


@wb.kernel
def integers(x: INTS, each: int, o: INTS):
    """The sum of a part of an array per thread."""
    i = wb.tid()
    s = wb.int32(0)
    for k in range(i * each, (i + 1) * each):
        s += x[k]
    o[i] = s
