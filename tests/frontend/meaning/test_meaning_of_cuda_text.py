"""The same statements as CUDA C++, run on the host: the text means what the interpreter means."""

from __future__ import annotations

import textwrap

import numpy as np
from msgspec.structs import replace

import workbench as wb
from tests.frontend.meaning.test_meaning_of_statements import FLOATS, INTS
from tests.support.checks.meaning import define
from tests.support.devices.on_gpu import Library
from tests.support.kernels.statement_bodies import BODIES
from workbench.backends.base import Options
from workbench.backends.python.interpret import run
from workbench.types import ArrayType, float64, int32


def test_every_statement(need):
    need("nvrtc")
    functions, inputs = [], []
    for number, (kind, body) in enumerate(BODIES.values()):
        text = f"def k(x, y):\n    i = tid()\n    v = x[i]\n{textwrap.indent(body, '    ')}\n    y[i] = r\n"
        array = ArrayType(int32 if kind == "int" else float64, 1)
        kernel = define(text)["k"]
        assert isinstance(kernel, wb.Kernel)
        functions.append(replace(kernel.specialise([array, array]).function, name=f"k{number}"))
        inputs.append(INTS if kind == "int" else FLOATS)
    library = Library(functions, Options())
    for function, x, name in zip(functions, inputs, BODIES, strict=True):
        expected, got = np.zeros_like(x), np.zeros_like(x)
        run(function, (x.size,), [x.copy(), expected])
        library.run(function.name, (x.size,), [x.copy(), got])
        assert np.array_equal(got, expected), name
