"""The lists of passes between a kernel's source code and its machine code, in the order in which they run.

    source code
        frontend/statements/lower.py        names and types, then        LOWERED
    IR of the kernel                        its cache key is made from   KEYED (forward) or the IR as it is (the others)
        autodiff/directions.py              the direction, step by step:
            forward                                                      RUNNABLE
            adjoint                         ADJOINT_INPUT, SIMPLIFIED (with HOISTED where it promotes), the reverse
                                            sweep, SWEPT, REVERSED; at the end RUNNABLE_ADJOINT
            gathered-adjoint                the adjoint, then autodiff/gather/form.py; clearing-adjoint likewise
            tangent                         the forward walk, TANGENT,   RUNNABLE
            finite                          FINITE,                      RUNNABLE
            accesses                        SILENT, autodiff/instrumented.py, RUNNABLE
            ordered, counted                RUNNABLE, autodiff/instrumented.py, RUNNABLE
    IR of one direction                     what is compiled, and what `launch` asks which arrays are read and written
        backends/cpu/emit/emit_module.py    CHECKED, CPU (for each form of a checked function), then LLVM IR and LLVM
        backends/cuda/emit.py               CUDA, or CUDA_TILES and CUDA_TILES_PLACED, then CUDA C++ and NVRTC
        backends/python/interpret.py        PYTHON, then one thread after the other
    machine code

A direction of several words takes a step for each ("adjoint tangent": the tangent of the adjoint). RUNNABLE runs once,
after the last step; a direction that ends in an adjoint gets RUNNABLE_ADJOINT instead, since the adjoint has chosen its
atomics and inlined its funcs already. With `fma=True`, CONTRACTED follows.

`PASSES` has the function of each pass, and the comments say where the others are: those that live on another floor, or
take settings, are handed to `run` by its caller. `gradcheck` runs `widen` (`passes/precision.py`) first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from workbench.ir.ops import TILED
from workbench.ir.values import Function
from workbench.passes.analysis.endless import refuse_endless
from workbench.passes.checks.bounds_checks import finite, guard, without_asserts, without_prints
from workbench.passes.dce import prune, prune_derivative, unchanged
from workbench.passes.expand import without_customs
from workbench.passes.fold import added_products, contract, fold
from workbench.passes.loops.expansion import expand_scalars
from workbench.passes.loops.forms import DIVISIONS, counted, early_exits, split_counters, uniform_divisors
from workbench.passes.loops.peeling import peel_boundaries
from workbench.passes.lower_tiles.lower import lower_tiles
from workbench.passes.memory.atomics import atomic, defer_atomics, demote_atomics, reductions
from workbench.passes.memory.elements import by_component, drop_overwritten, reuse, sink_stores
from workbench.passes.precision import halves
from workbench.passes.unroll import write_out
from workbench.passes.weak_literals import decide

Pass = Callable[[Function], Function]
Stage = tuple[str, ...]

# After lowering: TYPED alone where each statement is to be seen (`mark` in frontend/statements). A func that is
# called often is copied from its lowered form, which goes through the same.
TYPED: Stage = ("weak_literals",)
LOWERED: Stage = (*TYPED, "fold", "added_products", "refuse_endless", "dce")

# Before the key of forward code: a gradient that the user wrote for a func changes adjoints and tangents alone.
KEYED: Stage = ("strip_custom_gradients",)

# Before the reverse sweep. An adjoint runs the kernel's lines again: what they assert and print has been said.
# `early_exits` where the states of a short loop may all be kept.
ADJOINT_INPUT: Stage = ("strip_asserts", "strip_prints", "early_exits")
# Then, and again after each loop that is unrolled because a value it carries is missing (autodiff/reverse_mode.py).
# Here `demote_atomics` takes arrays that are read as well; `promote` and `hoist` are in autodiff/promote.py, without
# effect unless it promotes something.
SIMPLIFIED: Stage = ("fold", "demote_atomics", "promote", "load_forwarding", "dead_stores", "dce_derivative")
HOISTED: Stage = ("hoist", "fold")
# After the sweep: what turned out to be needed of the forward pass is written out (autodiff/reverse/recompute.py).
SWEPT: Stage = ("dce_derivative", "recompute", "dce_derivative")
# Of a whole adjoint: a cotangent that a loop never changes is no carried value; a gradient that a loop adds to one
# element, plainly, becomes one.
REVERSED: Stage = ("unchanged", "fold", "promote", "dce_derivative")
# Of one that is written another way (autodiff/gather).
ADJOINT: Stage = ("fold", "dce_derivative")
# Of an adjoint that is to run.
RUNNABLE_ADJOINT: Stage = ("reductions", "by_component")

# `recompute` as in SWEPT: a gradient that a user wrote is walked backwards for the tangent of its func.
TANGENT: Stage = ("recompute", "dce", "fold", "dce")
FINITE: Stage = ("finite_checks",)
# Of a launch that runs once more, only to see which elements it reads and writes.
SILENT: Stage = ("strip_asserts", "strip_prints")
# Of a kernel whose adjoint is differentiated by way of its tangent (autodiff/reverse_mode.py).
TWICE: Stage = (*SILENT, "atomic")

# Before any backend. Arguments that overlap keep their atomic operations: `atomic` decides what `demote_atomics` left.
RUNNABLE: Stage = ("strip_custom_gradients", "demote_atomics", "atomic", "reductions", "by_component")

# Of code for the CPU whose loops hold elements in registers (autodiff/promote.py).
HELD: Stage = ("fold", "dce")

# Of code with `fma=True`, after those.
CONTRACTED: Stage = ("contract", "dce")

# Per backend: `atomic` takes elements that no pass has decided on for shared; `strip_asserts` runs in code without
# checks, `bounds_checks` in code with checks, never both. `number_prints` is in backends/prints.py; what `expand`
# leaves is what the backend has.
CHECKED: Stage = ("atomic", "number_prints", "strip_asserts", "bounds_checks")
CPU: Stage = (
    *("write_out", "load_forwarding", "dead_stores", "sink_stores", "lower_tiles", "halves", "counted", "counters"),
    *("peel_boundaries", "early_exits", "defer_atomics", "divisors", "scalar_expansion", "expand"),
)
# `link_products` is in backends/cuda/products/spec.py, for code that is linked with cuBLASDx.
CUDA: Stage = ("atomic", "strip_asserts", "halves", "accumulate", "bounds_checks", "link_products", "expand", "dce")
# `accumulate` is in backends/cuda/cpp/atomics.py: before checks, which its `combine`s need none of, and behind
# `halves`, whose `fold` would take a `combine`'s index from the loop over threads.
# `combine` is in backends/cuda/tiles/reduce.py; backends/cuda/emit.py then lays tiles out over the threads of a block.
CUDA_TILES: Stage = ("atomic", "strip_asserts", "bounds_checks", "link_products", "halves", "combine", "expand")
# After tiles are laid out and barriers placed: indices that no element needed.
CUDA_TILES_PLACED: Stage = ("dce",)
PYTHON: Stage = ("bounds_checks",)

PASSES: Mapping[str, Pass] = {
    "atomic": atomic,
    "added_products": added_products,
    "by_component": by_component,
    "bounds_checks": guard,
    "contract": contract,
    "counted": counted,
    "counters": split_counters,
    "dce": prune,
    "dce_derivative": prune_derivative,
    "dead_stores": drop_overwritten,
    "divisors": uniform_divisors,
    "early_exits": early_exits,
    "finite_checks": finite,
    "fold": fold,
    "halves": halves,
    "peel_boundaries": peel_boundaries,
    "defer_atomics": defer_atomics,
    "load_forwarding": reuse,
    "lower_tiles": lower_tiles,
    "sink_stores": sink_stores,
    "demote_atomics": demote_atomics,
    "reductions": reductions,
    "refuse_endless": refuse_endless,
    "scalar_expansion": expand_scalars,
    "write_out": write_out,
    "strip_asserts": without_asserts,
    "strip_custom_gradients": without_customs,
    "strip_prints": without_prints,
    "unchanged": unchanged,
    "weak_literals": decide,
}

SUBJECTS: Mapping[str, frozenset[str]] = {
    "counted": frozenset({"while"}),
    "counters": frozenset({"wrap_index"}),
    "divisors": DIVISIONS,
    "early_exits": frozenset({"for"}),
    "lower_tiles": TILED,
    "refuse_endless": frozenset({"while"}),
    "scalar_expansion": frozenset({"for"}),
    "sink_stores": frozenset({"if"}),
    "strip_asserts": frozenset({"assert", "view_index"}),
}
"""By pass, the operations that it is about: it leaves a function alone that has none of them."""


def run(stage: Stage, function: Function, **arguments: Pass | bool) -> Function:
    """Return the function after every pass of the stage, in order.

    Args:
        stage: names of passes.
        function: the function before them.
        arguments: by name of a pass: the function to run in its place, as for passes of another floor or with settings;
            True: the one in `PASSES`, as by default; False: none.
    """
    # A misspelt name would switch off nothing, silently.
    assert arguments.keys() <= set(stage), f"{sorted(arguments.keys() - set(stage))} are not in {stage}"
    for name in stage:
        step = arguments.get(name, True)
        if step is not False:
            function = apply(name, PASSES[name] if step is True else step, function)
    return function


def apply(name: str, step: Pass, function: Function) -> Function:
    """Return the function after one pass; tests and tools replace this function to see what each pass does."""
    subject = SUBJECTS.get(name)
    idle = subject is not None and subject.isdisjoint(function.body.op_names)
    return function if idle else step(function)
