"""The puzzles of `2-blocks.ipynb`: what each asks, hints, and a solution. Try first."""

from __future__ import annotations

import numpy as np

from kernel_ext.puzzles import Arrow, Boxes, Case, Course, Picture, Puzzle

Random = np.random.Generator
BLOCK, TILE = 64, 16


def numbers(random: Random, *shape: int) -> np.ndarray:
    """Numbers from -2 to 2, float32."""
    return random.uniform(-2, 2, shape).astype(np.float32)


def unwritten(*shape: int) -> np.ndarray:
    """An output before the launch."""
    return np.full(shape, np.nan, np.float32)


def whole(n: int, block: int = BLOCK) -> int:
    """Threads of the blocks that cover `n`."""
    return -(-n // block) * block


def _window(random: Random) -> Case:
    n = int(random.integers(300, 500))
    x = numbers(random, n)
    wanted = np.convolve(x, np.ones(5, np.float32), mode="same")
    return Case(whole(n), {"x": x, "sums": unwritten(n), "n": n}, {"sums": wanted}, BLOCK)


window = Puzzle(
    "window", _window,
    hints=("The threads of a block need 64 + 4 elements. Let them fetch each once, into __shared__ float s[68].",
           "Thread t fetches s[t + 2]; the first four also fetch the two elements on either side. Outside of x, put 0.",
           "Between the writes to s and the reads of what others wrote stands __syncthreads(), which all threads "
           "of the block must reach."),
    solution="""
__global__ void window(const float* x, float* sums, int n) {
    __shared__ float s[64 + 4];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t + 2] = i < n ? x[i] : 0.0f;
    if (t < 4) {
        int at = t < 2 ? t : t + 64, j = blockIdx.x * 64 + at - 2;
        s[at] = j >= 0 && j < n ? x[j] : 0.0f;
    }
    __syncthreads();
    if (i < n) sums[i] = s[t] + s[t + 1] + s[t + 2] + s[t + 3] + s[t + 4];
}
""",
    goals=("sectors",),
    picture=Picture(
        "A block fetches its elements and two more on either side; each thread adds up five of them",
        (Boxes("x", (3, 1, 2, 0, 1, 4, 2, 1, 0, 5), warned=frozenset({(0, 1), (0, 2), (0, 7), (0, 8)})),
         Boxes("shared", (1, 2, 0, 1, 4, 2, 1, 0), (1, 1.7), warned=frozenset({(0, 0), (0, 1), (0, 6), (0, 7)})),
         Boxes("sums", (8, 9, 8, 8), (3, 3.4), marked=frozenset({(0, 1)}))),
        (*(Arrow((0, 0, c + 1), (1, 0, c)) for c in range(8)), *(Arrow((1, 0, c), (2, 0, 1)) for c in range(1, 6))),
        ((10.2, 2.2, "one block"),),
    ),
)  # fmt: skip


def _tree(random: Random) -> Case:
    n = int(random.integers(300, 500))
    x = numbers(random, n)
    wanted = {"total": np.array([x.sum()], np.float32)}
    return Case(whole(n), {"x": x, "total": np.zeros(1, np.float32), "n": n}, wanted, BLOCK, tolerance=1e-3)


tree = Puzzle(
    "tree", _tree,
    hints=("Put an element (or 0) per thread into shared memory; then 32 threads add the upper half to the lower one.",
           "Halve again: 16 threads, 8, 4, 2, 1. Between two rounds stands a barrier, outside of the `if`.",
           "At the end s[0] is the block's sum: if (t == 0) atomicAdd(total, s[0]);"),
    solution="""
__global__ void tree(const float* x, float* total, int n) {
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0) atomicAdd(total, s[0]);
}
""",
    goals=("atomics", "sectors"),
    picture=Picture(
        "A sum as a tree: each round adds the upper half to the lower half",
        (Boxes("shared", (1, 2, 3, 4, 5, 6, 7, 8)), Boxes("half = 4", (6, 8, 10, 12), (0, 1.8)),
         Boxes("half = 2", (16, 20), (0, 3.4)), Boxes("half = 1", (36,), (0, 5))),
        (*(Arrow((0, 0, c), (1, 0, c % 4), red=c > 3) for c in range(8)),
         *(Arrow((1, 0, c), (2, 0, c % 2), red=c > 1) for c in range(4)),
         *(Arrow((2, 0, c), (3, 0, 0), red=c > 0) for c in range(2))),
        ((1.4, 5.5, "one atomic addition to total"),),
    ),
)  # fmt: skip


def _warp_sum(random: Random) -> Case:
    x = numbers(random, 32 * int(random.integers(4, 9)))
    wanted = {"sums": x.reshape(-1, 32).sum(axis=1)}
    return Case(len(x), {"x": x, "sums": unwritten(len(x) // 32)}, wanted, 32, tolerance=1e-3)


warp_sum = Puzzle(
    "warp_sum", _warp_sum,
    hints=("Lanes of a warp read each other's registers: __shfl_down_sync(0xffffffff, v, k) is v of lane + k.",
           "Add v of the lane 16 further, then 8, 4, 2, 1. No array and no barrier is needed.",
           "for (int k = 16; k > 0; k /= 2) v += __shfl_down_sync(0xffffffff, v, k); lane 0 then has the sum."),
    solution="""
__global__ void warp_sum(const float* x, float* sums) {
    float v = x[blockIdx.x * 32 + threadIdx.x];
    for (int k = 16; k > 0; k /= 2) v += __shfl_down_sync(0xffffffff, v, k);
    if (threadIdx.x == 0) sums[blockIdx.x] = v;
}
""",
    goals=("wavefronts", "barriers", "sectors", "atomics"),
    picture=Picture(
        "Lanes of a warp add what other lanes have in a register",
        (Boxes("lane", range(8), round=True), Boxes("v", (1, 2, 3, 4, 5, 6, 7, 8), (0, 1.4)),
         Boxes("k = 4", (6, 8, 10, 12, "·", "·", "·", "·"), (0, 3)), Boxes("k = 2", (16, 20, *"······"), (0, 4.6))),
        (*(Arrow((1, 0, c), (2, 0, c - 4), red=True) for c in range(4, 8)),
         *(Arrow((2, 0, c), (3, 0, c - 2), red=True) for c in range(2, 4))),
        ((8.3, 2.6, "registers, no memory"),),
    ),
)  # fmt: skip


def _scan(random: Random) -> Case:
    x = numbers(random, BLOCK * int(random.integers(3, 7)))
    wanted = {"sums": x.reshape(-1, BLOCK).cumsum(axis=1).ravel()}
    return Case(len(x), {"x": x, "sums": unwritten(len(x))}, wanted, BLOCK, tolerance=1e-3)


scan = Puzzle(
    "scan", _scan,
    hints=("In each round a thread adds the element `step` before its own, if there is one; step is 1, 2, 4, … 32.",
           "One thread may write s[t] while another still reads it. Read into a register first.",
           "Two barriers per round: one between all reads and all writes, one between all writes and the next reads."),
    solution="""
__global__ void scan(const float* x, float* sums) {
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t] = x[i];
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        float before = t >= step ? s[t - step] : 0.0f;
        __syncthreads();
        s[t] += before;
        __syncthreads();
    }
    sums[i] = s[t];
}
""",
    goals=("sectors", "wavefronts"),
    picture=Picture(
        "Sums of all elements up to one's own, in rounds of steps 1, 2, 4",
        (Boxes("x", (1, 1, 1, 1, 1, 1, 1, 1)), Boxes("step = 1", (1, 2, 2, 2, 2, 2, 2, 2), (0, 1.7)),
         Boxes("step = 2", (1, 2, 3, 4, 4, 4, 4, 4), (0, 3.4)), Boxes("step = 4", (1, 2, 3, 4, 5, 6, 7, 8), (0, 5.1))),
        (*(Arrow((0, 0, c), (1, 0, c + 1)) for c in range(7)), *(Arrow((1, 0, c), (2, 0, c + 2)) for c in range(6)),
         *(Arrow((2, 0, c), (3, 0, c + 4)) for c in range(4))),
    ),
)  # fmt: skip


def _transpose(random: Random) -> Case:
    n = 32 * int(random.integers(2, 4))
    x = numbers(random, n, n)
    wanted = {"turned": x.T.copy()}
    return Case((n, n), {"x": x, "turned": unwritten(n, n), "n": n}, wanted, (32, 32))


transpose = Puzzle(
    "transpose", _transpose,
    hints=("Read rows into a tile in shared memory, and write rows of the result: turn around inside of the tile.",
           "The tile lies at row 32 * blockIdx.y, column 32 * blockIdx.x; in the result it is the other way round.",
           "Lanes that read a column of float s[32][32] meet in one bank. Make its rows one longer: s[32][33]."),
    solution="""
__global__ void transpose(const float* x, float* turned, int n) {
    __shared__ float s[32][33];
    int tx = threadIdx.x, ty = threadIdx.y, row = 32 * blockIdx.y, column = 32 * blockIdx.x;
    s[ty][tx] = x[(row + ty) * n + column + tx];
    __syncthreads();
    turned[(column + ty) * n + row + tx] = s[tx][ty];
}
""",
    goals=("sectors", "wavefronts"),
    picture=Picture(
        "A tile is read by rows, turned around in shared memory, and written by rows",
        (Boxes("", ([1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 16]), (0.2, 0.4),
               marked=frozenset({(0, 2), (0, 3), (1, 2), (1, 3)})),
         Boxes("shared", ([3, 4], [7, 8]), (6, 1.4), marked=frozenset({(0, 0), (0, 1), (1, 0), (1, 1)}), above=True),
         Boxes("", ([1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15], [4, 8, 12, 16]), (10, 0.4),
               marked=frozenset({(2, 0), (2, 1), (3, 0), (3, 1)}))),
        (Arrow((0, 1, 3), (1, 1, 0)), Arrow((1, 1, 1), (2, 2, 0))),
        ((0.2, 0, "x"), (10, 0, "turned")),
    ),
)  # fmt: skip


def _bins(random: Random) -> Case:
    n = int(random.integers(2000, 3000))
    index = np.minimum(random.integers(0, 16, n), random.integers(0, 16, n)).astype(np.int32)
    arguments = {"index": index, "counts": np.zeros(16, np.int32), "n": n}
    return Case(whole(n, 256), arguments, {"counts": np.bincount(index, minlength=16)}, 256)


bins = Puzzle(
    "bins", _bins,
    hints=("Let each block count on its own, in __shared__ int mine[16], and add its counts up at the end.",
           "mine begins with anything: the first 16 threads set it to 0, and a barrier follows.",
           "atomicAdd(&mine[index[i]], 1) if i < n; a barrier; then atomicAdd(&counts[t], mine[t]) if t < 16."),
    solution="""
__global__ void bins(const int* index, int* counts, int n) {
    __shared__ int mine[16];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t < 16) mine[t] = 0;
    __syncthreads();
    if (i < n) atomicAdd(&mine[index[i]], 1);
    __syncthreads();
    if (t < 16) atomicAdd(&counts[t], mine[t]);
}
""",
    goals=("hottest", "sectors"),
    picture=Picture(
        "Each block counts in shared memory; then it adds its counts to those of all",
        (Boxes("index", (1, 0, 1, 2, 1, 0, 2, 2)), Boxes("block 0", (1, 2, 1), (0, 2)),
         Boxes("block 1", (1, 1, 2), (5, 2)), Boxes("counts", (2, 3, 3), (2, 4))),
        (*(Arrow((0, 0, k), (1, 0, v)) for k, v in enumerate((1, 0, 1, 2))),
         *(Arrow((0, 0, k + 4), (2, 0, v)) for k, v in enumerate((1, 0, 2, 2))),
         *(Arrow((k, 0, c), (3, 0, c), red=True) for k in (1, 2) for c in range(3))),
    ),
)  # fmt: skip


def _product(random: Random) -> Case:
    m, n, k = (int(size) for size in random.integers(20, 50, 3))
    a, b = numbers(random, m, k), numbers(random, k, n)
    arguments = {"a": a, "b": b, "c": unwritten(m, n), "m": m, "n": n, "k": k}
    return Case((whole(m, TILE), whole(n, TILE)), arguments, {"c": a @ b}, (TILE, TILE), tolerance=1e-3)


product = Puzzle(
    "product", _product,
    hints=("Walk along k in steps of 16. In each the block fetches a tile of a and one of b, an element per thread.",
           "Elements outside of a or b are 0 in their tile: so only the fetches and the last write need a test.",
           "Two barriers per step: after the fetches, and before the next fetches overwrite what others still read."),
    solution="""
__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float left[16][16], right[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = 16 * blockIdx.y + ty, column = 16 * blockIdx.x + tx;
    float sum = 0.0f;
    for (int first = 0; first < k; first += 16) {
        left[ty][tx] = row < m && first + tx < k ? a[row * k + first + tx] : 0.0f;
        right[ty][tx] = first + ty < k && column < n ? b[(first + ty) * n + column] : 0.0f;
        __syncthreads();
        for (int j = 0; j < 16; j++) sum += left[ty][j] * right[j][tx];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}
""",
    goals=("sectors", "wavefronts"),
    picture=Picture(
        "A block makes a tile of c from a band of a and a band of b, one pair of tiles after the other",
        (Boxes("a", ([*"····"], [*"ABCD"], [*"····"]), (0, 5), marked=frozenset((1, c) for c in range(4))),
         Boxes("", ([*"·W·"], [*"·X·"], [*"·Y·"], [*"·Z·"]), (6, 0), marked=frozenset((r, 1) for r in range(4))),
         Boxes("", ([*"···"], [*"·?·"], [*"···"]), (6, 5), warned=frozenset({(1, 1)}))),
        (Arrow((0, 1, 3), (2, 1, 1)), Arrow((1, 3, 1), (2, 1, 1))),
        ((9.4, 6.5, "? = AW + BX + CY + DZ"), (9.4, 0.5, "b"), (9.4, 5.5, "c")),
    ),
)  # fmt: skip


def _softmax(random: Random) -> Case:
    x = 5 * numbers(random, int(random.integers(3, 9)), 64)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    wanted = {"y": e / e.sum(axis=1, keepdims=True)}
    return Case(len(x), {"x": x, "y": unwritten(*x.shape)}, wanted, 64, tiled=True)


softmax = Puzzle(
    "softmax", _softmax,
    hints=("row = tile_load(x, shape=(1, 64), offset=(i, 0)) is the block's row; operators and exp work on tiles.",
           "tile_max(row)[0] and tile_sum(t)[0] are numbers, which can be subtracted from a tile and divide it.",
           "e = exp(row - tile_max(row)[0]), then tile_store(y, e / tile_sum(e)[0], offset=(i, 0))"),
    solution="""
def softmax(x: array2d[float], y: array2d[float]):
    i = tid()
    row = tile_load(x, shape=(1, 64), offset=(i, 0))
    e = exp(row - tile_max(row)[0])
    tile_store(y, e / tile_sum(e)[0], offset=(i, 0))
""",
    goals=("sectors", "barriers"),
    picture=Picture(
        "A block per row: its largest element, exponentials of the differences, divided by their sum",
        (Boxes("row", (1, 3, 2, 0), marked=frozenset({(0, 1)})), Boxes("- max", (-2, 0, -1, -3), (0, 1.6)),
         Boxes("exp", (0.14, 1, 0.37, 0.05), (0, 3.2)), Boxes("/ sum", (0.09, 0.64, 0.24, 0.03), (0, 4.8))),
        tuple(Arrow((r, 0, c), (r + 1, 0, c)) for r in range(3) for c in range(4)),
        ((4.3, 0.5, "max = 3"), (4.3, 3.7, "sum = 1.56")),
    ),
)  # fmt: skip

course = Course(window, tree, warp_sum, scan, transpose, bins, product, softmax)
check, hint, score, show = course.tools
