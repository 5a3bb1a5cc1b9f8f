"""The table of limits: every number of the compiler that a program can stand on either side of.

A row is a `Limit`: an int that says what it counts, what the compiler does up to it, and what it does beyond. Only
`REFUSED` may be seen by a user as anything but time: everywhere else the program means the same on both sides.
`tests/judge/limits` has programs at n - 1, n, n + 1 and 4 n of each row. A threshold in `ir`, `frontend`, `passes`,
`autodiff` or `backends/cpu` that is not a row fails `tests/architecture/test_limits.py`.

Example:
    >>> from workbench import limits
    >>> limits.GROUP_THREADS
    64
    >>> limits.GROUP_THREADS.unit
    'threads of a gang that adds last'
"""

from __future__ import annotations

from typing import Final

SLOWER: Final = "slower"
"""Beyond the limit, an optimisation does not apply."""
OTHER: Final = "other code"
"""Both sides are served by code that suits them."""
REFUSED: Final = "refused"
"""Beyond the limit, an error names the line and says what to write."""
BOUNDED: Final = "bounded"
"""Beyond the limit, a search stops and assumes the worst, or a report leaves out the rest."""
COST: Final = "cost"
"""No limit but a weight in an estimate of cost, by which code is chosen."""


class Limit(int):
    """Represents a limit of the compiler: the number itself, with a description.

    Attributes:
        unit: the noun phrase that the number counts.
        within: the action of the compiler up to the limit (or from it on, if the name ends in `_LEAST`).
        beyond: `SLOWER`, `OTHER`, `REFUSED`, `BOUNDED` or `COST`.
    """

    unit: str
    within: str
    beyond: str

    def __new__(cls, value: int, unit: str, within: str, beyond: str) -> Limit:
        """Return the int `value` with its description."""
        limit = super().__new__(cls, value)
        limit.unit, limit.within, limit.beyond = unit, within, beyond
        return limit

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        """Pickle as a plain int."""
        return int, (int(self),)


def table() -> dict[str, Limit]:
    """Return all rows by name, in the order of the file."""
    return {name: value for name, value in globals().items() if isinstance(value, Limit)}


# The language: what a kernel may contain.
CALL_DEPTH = Limit(2000, "funcs that call one another in a row", "they are inlined", REFUSED)
STATIC_ELEMENTS = Limit(4096, "elements that static(…) may return", "they are constants of the kernel", REFUSED)
UNROLLED_SEQUENCE = Limit(256, "elements of a tuple or static(…) in a loop", "the loop is unrolled", REFUSED)
BLOCK_THREADS = Limit(1024, "threads of a block", "they run together", REFUSED)
LOOP_TYPE_CHANGES = Limit(8, "types that a name in a loop takes one after the other", "it settles for one", REFUSED)
LITERAL_BITS = Limit(1023, "bits of an integer literal", "it may become a float", REFUSED)
EXPANDED_POWER = Limit(64, "the literal exponent of a power of floats", "it is written as products", OTHER)
IDLE_ITERATIONS = Limit(32, "known iterations of a `for` that can be left", "the rest of them is idle", OTHER)
NESTED_EXITS = Limit(16, "branches of one list of statements that leave it", "each nests what follows", OTHER)
COPIED_CALLS = Limit(3, "calls of a func with like arguments", "each is lowered by itself", OTHER)
CALLED_OPERATIONS = Limit(16, "operations of a pure func that is called again", "its body is copied", OTHER)
CALL_FORMS = Limit(512, "forms of calls of library functions in memory", "a form is lowered once", SLOWER)
CHECKPOINTS = Limit(16, "states of a loop that an adjoint keeps", "no state is recomputed", SLOWER)
CHECKPOINTS_LEAST = Limit(2, "checkpoints that a user may request", "they are used", REFUSED)
CHECKPOINTS_MOST = Limit(1024, "checkpoints that a user may request", "they are used", REFUSED)
FILE_OPERATIONS = Limit(100_000, "operations of a function that is read from a file", "it is read", REFUSED)
FILE_DEPTH = Limit(60, "blocks in one another of a function that is read from a file", "it is read", REFUSED)

# Checks: bounds, and the words of a fault.
EXPLAINED_OPERATIONS = Limit(8_000, "operations read to name a faulty index", "it is named", BOUNDED)
EXPLAINED_ITERATIONS = Limit(8, "iterations of a loop that are followed for that", "all are", BOUNDED)
REPORTED_INDICES = Limit(4, "indices in a fault record", "the message has them", BOUNDED)
INTERVAL_DEPTH = Limit(8, "operations between an index and what bounds it", "its check is hoisted", SLOWER)

# Derivatives.
REVERSED_UNROLLED = Limit(2048, "operations of a known range, written out", "its adjoint keeps no states", OTHER)
REVERSED_CHUNK = Limit(8, "iterations reversed from one start", "their states are kept side by side", OTHER)
REVERSED_CHUNK_OPERATIONS = Limit(64, "operations of a reversed loop's body", "its chunks are written out", OTHER)
REVERSED_CHUNK_BYTES = Limit(16, "bytes of a reversed loop's state", "its chunks are written out", OTHER)
REVERSED_STATES_BYTES = Limit(512, "bytes of the states of all loops' chunks on the CPU", "chunks are longer", SLOWER)
STORED_ITERATIONS = Limit(64, "known iterations of a reversed loop", "all states are stored", OTHER)
STORED_STATE_BYTES = Limit(32, "bytes of a state of such a loop", "all states are stored", OTHER)
PULLED_NEIGHBOURS = Limit(64, "offsets at which a thread adds in an adjoint", "the adjoint gathers", SLOWER)
PULLED_OPERATIONS = Limit(400, "operations of a gathering adjoint", "the adjoint gathers", SLOWER)
CLEARED_BYTES = Limit(2**16, "bytes of a gradient", "adjoints clear it on the way, and add to it", OTHER)
PULLED_OFFSET = Limit(8, "the constant by which a neighbour's index differs", "the adjoint gathers", SLOWER)

# What threads do together.
GROUP_OPERATIONS = Limit(512, "operations of a body that adds", "its additions come last", SLOWER)
GROUP_THREADS = Limit(64, "threads of a gang that adds last", "they compute before any adds", OTHER)
GROUP_ROWS = Limit(4, "rows of threads in a group", "they share what they load", OTHER)
PANEL_ROWS = Limit(64, "rows of threads in a block", "they share what a loop in front of them reads", OTHER)
PANEL_LEAST = Limit(640, "iterations that read neighbours, the same in all rows", "a block reads them once", OTHER)
PANEL_LONG = Limit(128, "iterations that gather, the same in all rows", "blocks have PANEL_ROWS rows, else 16", OTHER)
PANEL_ITERATIONS = Limit(32768, "iterations that read the same in all rows", "each block reads them once", SLOWER)
GROUP_ROWS_OPERATIONS = Limit(60, "operations of a body that is written for several rows", "rows are grouped", SLOWER)
UNROLLED_ITERATIONS = Limit(16, "iterations of a loop that LLVM writes out", "threads vectorise as is", OTHER)
TRANSPOSED_STRIP = Limit(16, "iterations of a loop along rows, one row per thread", "they are one strip", OTHER)
TRANSPOSED_BLOCK = Limit(8, "iterations that are transposed at once", "one block holds them", OTHER)
SPLIT_LOOP_OPERATIONS = Limit(256, "operations of a loop whose counter starts at a loaded index", "it is split", SLOWER)
SHARED_QUOTIENT_OPERATIONS = Limit(
    128, "operations behind a division in a loop, for each division", "gangs divide once", SLOWER
)
SHARED_QUOTIENT_THREADS_LEAST = Limit(16, "threads with one quotient", "they are a group of a gang", OTHER)
DEFERRED_OPERATIONS_LEAST = Limit(3, "operations of a thread that adds by index", "its additions come last", OTHER)
DEFERRED_VALUES = Limit(8, "scalars that a thread keeps for its additions by index", "they come last", SLOWER)

# Borders: a version of the body for threads that no clamp, wrap or condition concerns.
INTERIOR_OPERATIONS = Limit(1024, "operations of a body with borders", "threads inside have their own version", SLOWER)
BORDER_WIDTH = Limit(1024, "threads that a literal bound sets apart", "the others are the interior", SLOWER)
FLATTENED_OPERATIONS = Limit(512, "operations of a body over i // w and i % w", "it runs by rows", SLOWER)
FLATTENED_ROW_LEAST = Limit(8, "threads of a row of a flattened launch", "it runs by rows", OTHER)

# Sums and other changes of one element by all threads.
COMBINED_COMPONENTS = Limit(128, "scalars that all threads of a kernel change", "lanes are combined first", SLOWER)
COMBINED_OPERATIONS = Limit(32, "operations of a body that combines", "it is also written for groups", SLOWER)
INLINED_COMPONENTS = Limit(2, "components combined in the entry itself", "no function is called", OTHER)
REDUCTION_THREADS = Limit(512, "threads whose results lie in a buffer", "they are combined at once", OTHER)
REDUCTION_BYTES = Limit(2**15, "bytes of all such buffers", "buffers hold more than one vector", OTHER)

# Gangs: threads side by side as vectors under a mask.
GANG_LANES = Limit(16, "threads of a gang", "they run as vectors", OTHER)
GANG_COMPONENTS = Limit(4, "scalars of an element", "a gang has all its threads, beyond it half of them", OTHER)
GANG_BYTE_LANES = Limit(64, "threads of a gang that stores bytes alone", "they run as vectors", OTHER)
GANG_REGISTER = Limit(512, "bits of a register", "a gang without loops has fewer threads", OTHER)
GANG_LOOP_BYTES = Limit(256, "bytes that a gang carries through a loop", "a gang is no wider", OTHER)
GANG_UNROLLED_LANES = Limit(16, "threads of a gang that go one by one", "their code is written out", OTHER)
GANG_INTERLEAVED_LANES = Limit(256, "scalars of a gang's neighbouring elements", "they are shuffled", OTHER)
GANG_FIELDS_LEAST = Limit(3, "fields of a struct that are loaded", "the structs of a gang are transposed", OTHER)
GANG_ROW_COMPONENTS_LEAST = Limit(8, "scalars of an element", "a gang's elements are transposed in registers", OTHER)
OPERATIONS_OF_LOAD = Limit(3, "operations for each load in a loop", "it is serial, if nothing gathers", COST)
GANG_REST_LEAST = Limit(4, "threads behind the full gangs of a row", "they are a gang under a mask", OTHER)
GANG_STEP = Limit(2**16, "elements from one thread of a gang to the next", "their index is linear", OTHER)
GANG_FRAME_BYTES = Limit(2**15, "bytes of a gang's own arrays", "they are on the stack", OTHER)
GANG_STRAIGHT_OPERATIONS = Limit(16, "instructions of a side of an `if`", "no gang branches around them", OTHER)
EXPANDED_BYTES = Limit(4096, "bytes of a row's values that several loops use", "one loop computes them", OTHER)
DECIDED_OPERATIONS = Limit(1024, "operations of a loop that decides, written out", "it is written out", SLOWER)
DECIDED_NEST_OPERATIONS = Limit(2048, "operations of all loops whose range that makes known", "they are, too", SLOWER)
RECOMPUTED_ITERATIONS = Limit(8, "iterations of an inner loop without functions", "it is computed again", OTHER)
COLLAPSED_ROW_LEAST = Limit(16, "iterations of a loop whose iterations become threads", "they are a row", OTHER)
INTERCHANGED_ROW_LEAST = Limit(16, "threads along an axis with accesses side by side", "it goes last", OTHER)
GANG_DISTINCT_ARRAYS = Limit(32, "pairs of arrays that must share no memory", "a launch tests them", OTHER)
GANG_TWICE_OPERATIONS = Limit(
    128, "operations of a side of an `if`", "it may be written twice, once without a mask", OTHER
)
GANG_THIN_ROWS = Limit(32, "threads of a row", "a gang is of one row", OTHER)
GANG_THIN_ROWS_GATHERED = Limit(8, "threads of a row that gathers, loads one by one", "a gang is of one row", OTHER)
GANG_THIN_OPERATIONS = Limit(256, "operations of a thread", "rows thinner than a gang go together", SLOWER)
DISTANT_OPERATIONS = Limit(1024, "operations of a block of a gang", "LLVM alone spills its values", OTHER)

# Code for LLVM.
STACK_ARRAY_BYTES = Limit(2**15, "bytes of one array on the stack", "it is on the stack", OTHER)
STRIP_OPERATIONS = Limit(2**16, "operations between two looks for an interrupt, inner loops", "no look is made", OTHER)
LOOK_OPERATIONS = Limit(2**22, "operations between two looks for an interrupt, outer loops", "no look is made", OTHER)
VERSIONED_LOOPS = Limit(4, "inner loops that are cut into strips", "short ones have a version uncut", SLOWER)
RUNTIME_UNROLLED_LOOPS = Limit(8, "loops of a function", "those of unknown length are unrolled", SLOWER)
UNROLLED_LOOPS = Limit(48, "loops of a function", "LLVM may unroll them", SLOWER)
UNROLLED_TILES = Limit(16, "operations on tiles of a function", "LLVM may unroll them", SLOWER)
UNSWITCHED_NEST = Limit(3, "loops in one another", "LLVM moves conditions out of them", SLOWER)
SUPERWORD_OPERATIONS = Limit(1024, "operations of a function", "LLVM looks for superwords", SLOWER)
STRAIGHT_CHARACTERS = Limit(1 << 19, "characters of a text of gangs without branches", "LLVM optimises it", OTHER)
OPTIMISED_CHARACTERS = Limit(1 << 20, "characters of a text of explicit vectors", "LLVM optimises it", SLOWER)
REPEATING_OPERATIONS = Limit(32, "operations of a loop that reloads an element", "LLVM interleaves its turns", OTHER)
SHUFFLED_COMPONENTS_LEAST = Limit(9, "scalars of an element", "neighbouring threads' elements are shuffled", OTHER)
SHUFFLED_OPERATIONS = Limit(10, "operations per scalar of such an element", "they are shuffled", OTHER)
MATMUL_VECTORS = Limit(2, "vectors of a row of tile_matmul's block", "they stay in registers", OTHER)
DISPATCH_GRAIN = Limit(65536, "threads that one core takes at a time", "one core runs the launch", OTHER)
PREFETCH_BYTES = Limit(256, "bytes ahead of a row that is transposed", "they are prefetched", COST)
VECTOR_MATH_ITERATIONS = Limit(16, "iterations of a loop around maths functions", "it is unrolled in full", OTHER)

# Weights.
LOOP_WEIGHT = Limit(16, "iterations that a loop of unknown length counts as", "", COST)
EDGE_ITERATIONS = Limit(16, "iterations that a loop over the edge of a tile counts as", "", COST)
ATOMIC_ADD_COST = Limit(24, "operations that an atomic addition counts as", "", COST)
TILE_LANES = Limit(8, "elements of a tile that are computed at a time", "", COST)
