"""State that a kernel's statements share while they are emitted: names, locals, and functions next to the kernel.

The functions that write an operation's statements take an `Emitter`; `statements` has their table.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from workbench.backends.cuda.cpp.c_names import c_type, identifier
from workbench.backends.cuda.cpp.expression import Expressions
from workbench.backends.cuda.cpp.locals import Locals
from workbench.ir.values import Op, Value


class Emitter:
    """The state that the statements of one kernel share while they are emitted as CUDA C++.

    Attributes:
        expressions: writes values.
        inlining: which values are written inside others.
        locals: which values share a local.
        names: of parameters, indices, and locals by the value that represents their group.
        taken: names that are in use here.
        lines: write `#line` directives.
        declared: the locals that are declared here.
        natives: the definitions of functions with a user's text and of products of tiles, by name.
        registers: the slots that are accessed as registers.
        accumulators: the names of the locals of changes that go to memory at the end, by number.
        together: additions by neighbouring threads to one element.
        fault: the name of the parameter with the fault record; empty if nothing is checked.
        thread: the name of the thread's linear index.
        line: the line of the last `#line` directive; 0 if there was none.
    """

    def __init__(
        self, expressions: Expressions, locals_: Locals, names: dict[Value, str], taken: set[str], lines: bool
    ) -> None:
        """Set up for one kernel; with `lines`, a statement from another line of the cell begins with `#line`."""
        self.expressions = expressions
        self.inlining = expressions.inlining
        self.locals = locals_
        self.names = names
        self.taken = taken
        self.lines = lines
        self.fault = self.thread = ""
        self.registers: frozenset[Value] = frozenset()
        self.together: frozenset[Op] = frozenset()
        self.natives: dict[str, str] = {}
        self.accumulators: dict[int, str] = {}
        self.declared: set[Value] = set()
        self.line = 0

    def name(self, value: Value) -> str:
        """Return the name of a parameter, an index, or the local that holds the value."""
        return self.names[value] if value in self.names else self.names[self.locals.of(value)]

    def fresh(self, base: str, default: str = "t") -> str:
        """Return an unused C++ name like `base`, and reserve it."""
        name = identifier(base, self.taken, default)
        self.taken.add(name)
        return name

    def declare(self, value: Value) -> str:
        """Return the left side of an assignment to the value's local; with its type if it is new in this scope.

        A new local gets an unused name, and counts as declared until the scope ends.
        """
        local = self.locals.of(value)
        if local in self.declared:
            return self.names[local]
        self.declared.add(local)
        labels = sorted({m.name for m in self.locals.members(local) if m.name}, key=lambda n: (len(n), n))
        self.names[local] = self.fresh(value.name or (labels[0] if labels else "t"))
        self.expressions.require_type(value.type)
        return f"{c_type(value.type)} {self.names[local]}"

    @contextmanager
    def scope(self) -> Generator[None]:
        """Enter a C++ scope for the length of a `with`: names declared inside are free again after it.

        It emits no text.
        """
        declared, taken = set(self.declared), set(self.taken)
        yield
        self.declared, self.taken = declared, taken

    def directive(self, op: Op) -> str:
        """Return the `#line` directive before the operation, and remember its line; empty if none is needed.

        None is needed without `lines`, if the operation has no line, or if the last directive named the same one.
        """
        if not self.lines or not op.location.line or op.location.line == self.line:
            return ""
        self.line = op.location.line
        return f'#line {self.line} "/cell/{op.location.source.label}"'
