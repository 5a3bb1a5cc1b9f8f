"""The families of programs for each row of the table of limits, by size.

A row's programs have its number of operations, loops, threads … less one, exactly, and one more, and four times as
many. The
number beside a family is what the compiler counts in its programs beside their size: loads, stores, the thread's index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.judge.limits import code, derivatives, language, threads
from tests.judge.program import Program
from workbench import limits

Family = Callable[[int], Program]


@dataclass(frozen=True)
class Row:
    """Programs of one limit.

    Attributes:
        families: programs by size, each with what the compiler counts in them beside the size.
        sizes: other sizes than n - 1, n, n + 1 and 4 n.
    """

    families: tuple[tuple[Family, int], ...]
    sizes: tuple[int, ...] = ()

    def cases(self, name: str) -> Iterator[tuple[Family, int, int]]:
        """Yield each family with a size, and what the compiler counts there."""
        for family, beside in self.families:
            for size in self.counts(name):
                if size > beside:
                    yield family, size - beside, size

    def counts(self, name: str) -> tuple[int, ...]:
        """Return what the compiler counts in the programs of one family."""
        n = int(limits.table()[name])
        return self.sizes or (n - 1, n, n + 1, 4 * n)


def _row(*families: Family | tuple[Family, int], sizes: tuple[int, ...] = ()) -> Row:
    return Row(tuple(f if isinstance(f, tuple) else (f, 0) for f in families), sizes)


FAMILIES: dict[str, Row] = {
    "CALL_DEPTH": _row(language.nested_calls),
    "STATIC_ELEMENTS": _row(language.static_sequence),
    "UNROLLED_SEQUENCE": _row(language.sequence),
    "BLOCK_THREADS": _row(code.wrapped_block),
    "LOOP_TYPE_CHANGES": _row(language.changing_types),
    "LITERAL_BITS": _row(language.literal),
    "EXPANDED_POWER": _row(language.integer_power, language.float_power),
    "IDLE_ITERATIONS": _row(language.left_loop),
    "NESTED_EXITS": _row(language.exits, language.chain, language.returning_chain, language.continues),
    "COPIED_CALLS": _row(language.calls),
    "CALLED_OPERATIONS": _row((language.called_body, 5)),
    "CHECKPOINTS": _row(derivatives.iterations, derivatives.squared_iterations, derivatives.checkpoints),
    "CHECKPOINTS_LEAST": _row(derivatives.checkpoints),
    "CHECKPOINTS_MOST": _row(derivatives.checkpoints),
    "EXPLAINED_OPERATIONS": _row(language.faulty_body),
    "EXPLAINED_ITERATIONS": _row(language.faulty_loop),
    "REPORTED_INDICES": _row(language.faulty_indices, sizes=(1, 2, 3, 4)),
    "INTERVAL_DEPTH": _row(language.bounded_index),
    "REVERSED_UNROLLED": _row(derivatives.known_range, derivatives.overwritten, sizes=(2043, 2048, 2052, 8192)),
    "REVERSED_CHUNK": _row(derivatives.iterations),
    "REVERSED_CHUNK_OPERATIONS": _row((derivatives.reversed_body, 10)),
    "REVERSED_CHUNK_BYTES": _row(derivatives.state_bytes, sizes=(12, 16, 20, 64)),
    "REVERSED_STATES_BYTES": _row(derivatives.state_bytes, sizes=(28, 32, 36, 128)),
    "STORED_ITERATIONS": _row(derivatives.known_iterations),
    "STORED_STATE_BYTES": _row(derivatives.stored_state_bytes, sizes=(28, 32, 36, 128)),
    "PULLED_NEIGHBOURS": _row(derivatives.neighbours, derivatives.neighbours_in_a_plane),
    "PULLED_OPERATIONS": _row((derivatives.gathered_body, 161)),  # a half of the body is computed twice
    "PULLED_OFFSET": _row(derivatives.clamped, derivatives.clamped_near_ends),
    "GROUP_OPERATIONS": _row((threads.added_body, 5)),
    "GROUP_THREADS": _row(threads.plane_columns, threads.shared_weights),
    "GROUP_ROWS": _row(threads.plane_rows),
    "GROUP_ROWS_OPERATIONS": _row((threads.plane_body, 41)),  # two for each of the body, and 21
    "UNROLLED_ITERATIONS": _row(threads.known_row),
    "DECIDED_OPERATIONS": _row((threads.component_loop, 24), sizes=(1020, 1024, 1028, 4096)),
    "DECIDED_NEST_OPERATIONS": _row(threads.decided_nest, sizes=(1024, 3072)),
    "RECOMPUTED_ITERATIONS": _row(threads.inner_rows),
    "EXPANDED_BYTES": _row(threads.row_functions, sizes=(1023, 1024, 1025)),  # of 4 bytes each
    "TRANSPOSED_STRIP": _row(threads.row_length, threads.rows_copied),
    "TRANSPOSED_BLOCK": _row(threads.row_length, threads.rows_copied),
    "SPLIT_LOOP_OPERATIONS": _row((threads.loaded_start, 8)),
    "SHARED_QUOTIENT_OPERATIONS": _row((threads.rotated_body, 4)),
    "SHARED_QUOTIENT_THREADS_LEAST": _row(threads.rotated_row),
    "DEFERRED_OPERATIONS_LEAST": _row((derivatives.added_by_index, 1)),
    "DEFERRED_VALUES": _row(derivatives.values_added_by_index),
    "INTERIOR_OPERATIONS": _row((threads.bordered_body, 16), (threads.bordered_plane, 31)),
    "BORDER_WIDTH": _row(threads.border, threads.clamped_border),
    "FLATTENED_OPERATIONS": _row((threads.flattened_body, 29)),
    "INTERCHANGED_ROW_LEAST": _row(threads.columns_mapped),
    "COLLAPSED_ROW_LEAST": _row(threads.rows_mapped),
    "FLATTENED_ROW_LEAST": _row(threads.flattened_row, threads.flattened_literal),
    "COMBINED_COMPONENTS": _row(code.sums, code.integer_sums, code.vector_sum),
    "COMBINED_OPERATIONS": _row(code.sum_body, sizes=(9, 10, 11, 12, 44)),
    "INLINED_COMPONENTS": _row(code.sums, code.integer_sums),
    "REDUCTION_THREADS": _row(code.sum_threads),
    "REDUCTION_BYTES": _row(code.sum_bytes, sizes=(2**15 - 4096, 2**15, 2**15 + 4096, 2**17)),
    "GANG_LANES": _row(code.threads),
    "GANG_BYTE_LANES": _row(threads.byte_threads),
    "GANG_COMPONENTS": _row(threads.vector_elements),
    "GANG_STEP": _row(threads.distant_elements, sizes=(2**16 - 1, 2**16, 2**16 + 1, 2**17)),
    "GANG_STRAIGHT_OPERATIONS": _row((threads.branch_body, 2)),
    "GANG_THIN_ROWS": _row(threads.thin_rows),
    "GANG_THIN_ROWS_GATHERED": _row(threads.thin_rows),
    "GANG_THIN_OPERATIONS": _row((threads.thin_body, 6)),
    # A checkpoint takes 8 bytes of each of 16 threads.
    "GANG_FRAME_BYTES": _row(derivatives.checkpoints, sizes=(250, 260, 520, 1024)),
    "STACK_ARRAY_BYTES": _row(code.tile_bytes, sizes=(2**15 - 4, 2**15, 2**15 + 4, 2**17)),
    "STRIP_OPERATIONS": _row(code.loop_iterations, code.nested_iterations),
    "LOOK_OPERATIONS": _row(code.loop_iterations, code.nested_iterations),
    "VERSIONED_LOOPS": _row(code.inner_loops, sizes=(1, 2, 3, 8)),
    "RUNTIME_UNROLLED_LOOPS": _row(code.loops, threads.row_loops),
    "UNROLLED_LOOPS": _row(code.loops),
    "UNROLLED_TILES": _row((code.tile_operations, 3)),
    "UNSWITCHED_NEST": _row(code.nest),
    "SUPERWORD_OPERATIONS": _row((code.vector_body, 13), (code.long_body, 16)),
    "DISTANT_OPERATIONS": _row((code.there_and_back, 1)),
    "REPEATING_OPERATIONS": _row((code.repeating, 4)),
    "SHUFFLED_COMPONENTS_LEAST": _row(threads.vector_elements),
    "SHUFFLED_OPERATIONS": _row(threads.vector_operations),
    "MATMUL_VECTORS": _row(code.product, sizes=(7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 128)),
    "DISPATCH_GRAIN": _row(code.threads),
    "VECTOR_MATH_ITERATIONS": _row(threads.maths_loop),
}

OUT_OF_REACH = {
    "STRAIGHT_CHARACTERS": "counts characters of a text: programs of DISTANT_OPERATIONS lie on both sides",
    "OPTIMISED_CHARACTERS": "needs kernels that take minutes to compile",
    "CALL_FORMS": "counts forms of calls of all kernels of a process, and empties a memory",
    "FILE_OPERATIONS": "counts operations of a file: tests/ir reads files on both sides",
    **dict.fromkeys(
        (
            "GANG_REGISTER",
            "GANG_LOOP_BYTES",
            "GANG_UNROLLED_LANES",
            "GANG_INTERLEAVED_LANES",
            "GANG_FIELDS_LEAST",
            "GANG_ROW_COMPONENTS_LEAST",
            "GANG_REST_LEAST",
            "GANG_TWICE_OPERATIONS",
            "GANG_DISTINCT_ARRAYS",
        ),
        "decides how wide a gang is: tests/backends/cpu/test_gang and test_gang_rows have programs of each width",
    ),
    **dict.fromkeys(
        ("PANEL_ROWS", "PANEL_LEAST", "PANEL_LONG", "PANEL_ITERATIONS"),
        "compared by the code that was made: tests/backends/cpu/test_panels has products on both sides",
    ),
    "FILE_DEPTH": "counts blocks of a file: tests/ir reads files on both sides",
    "CLEARED_BYTES": "counts bytes: tests/api/tapes/test_set_gradients has arrays on both sides",
}
"""Rows that no program reaches by its size, and why."""

LONG = {
    "DECIDED_NEST_OPERATIONS": 2048,
    "CALL_DEPTH": 1999,
    "PULLED_NEIGHBOURS": 256,
    "REVERSED_UNROLLED": 8192,
    "GROUP_OPERATIONS": 0,
    "BORDER_WIDTH": 0,
    "REVERSED_CHUNK_OPERATIONS": 256,
    "GROUP_ROWS_OPERATIONS": 0,
    "SPLIT_LOOP_OPERATIONS": 0,
    "SHARED_QUOTIENT_OPERATIONS": 0,
    "INTERIOR_OPERATIONS": 0,
    "FLATTENED_OPERATIONS": 0,
    "COMBINED_COMPONENTS": 0,
    "LOOK_OPERATIONS": 2**24,
    "UNROLLED_LOOPS": 48,
    "SUPERWORD_OPERATIONS": 4096,
    "DISTANT_OPERATIONS": 4096,
    "SHUFFLED_OPERATIONS": 40,
    "STORED_ITERATIONS": 256,
    "STORED_STATE_BYTES": 128,
    "DISPATCH_GRAIN": 2**18,
}
"""The counts from which on a row's programs take more than a second or two: they are in the slow tier only."""
