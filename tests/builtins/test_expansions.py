"""An expansion means what the reference means, bit for bit, at edge values and everywhere else."""

from __future__ import annotations

import pytest

from tests.support.kernels.builtin_cases import accepted, blank, columns, expected, kernel_of, mismatch, rows
from workbench.backends.python import run
from workbench.builtins import TABLE
from workbench.ir.values import walk
from workbench.ir.verify import verify
from workbench.passes.dce import prune
from workbench.passes.expand import expand
from workbench.passes.fold import fold
from workbench.passes.precision import halves

EXPANDED = sorted(name for name, entry in TABLE.items() if entry.expand is not None)


@pytest.mark.sample(15)
@pytest.mark.parametrize("name", EXPANDED)
def test_expansion_equals_reference(name: str) -> None:
    entry = TABLE[name]
    for operands, result in accepted(entry):
        cases = rows(entry, operands)
        function = kernel_of(name, (operands, result))
        expanded = verify(prune(fold(expand(halves(function), lambda b: b.expand is None))))
        used = {op.name for op in walk(expanded.body)} & TABLE.keys()
        moves = {"transpose", "diag", "get_diag"}  # components in other places: nothing is computed
        assert (used or name in moves) and all(TABLE[n].expand is None for n in used)
        got = blank(len(cases), result)
        run(expanded, len(cases), [*columns(cases, operands), got])
        problem = mismatch(got, expected(entry, cases, result), cases, entry.ulp if entry.wide else 0)
        assert not problem, f"{name}{operands}: {problem}"
