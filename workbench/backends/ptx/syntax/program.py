"""A parsed PTX module: functions, variables and instructions, as they stand in the text.

Names are unique within a function: what an inner scope declares again has been renamed by the parser.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from workbench.errors import BuildError

SANITIZED = b"// sanitized\n"
"""The first line of PTX whose accesses are checked when it runs; its `.loc`s are places in a cell."""

BITS: dict[str, int] = {
    **{f"{kind}{bits}": bits for kind in "bsu" for bits in (8, 16, 32, 64)},
    **{"b128": 128, "pred": 1, "f16": 16, "bf16": 16, "f16x2": 32, "bf16x2": 32, "tf32": 32, "f32": 32, "f64": 64},
    **{"u16x2": 32, "s16x2": 32},
}
"""Width of each type in bits."""


class Register(msgspec.Struct, frozen=True):
    """A virtual register; `type` is its declared type ("b32", "f32", "pred")."""

    name: str
    type: str


class Special(msgspec.Struct, frozen=True):
    """A special register: "%tid.x"."""

    name: str


class Immediate(msgspec.Struct, frozen=True):
    """A constant: an integer (`kind` is "int") or the bits of a float ("f32", "f64")."""

    value: int
    kind: str = "int"


class Symbol(msgspec.Struct, frozen=True):
    """The name of a variable, a parameter, a function or a label, perhaps with bytes added."""

    name: str
    offset: int = 0


class Address(msgspec.Struct, frozen=True):
    """`[base + offset]`."""

    base: Register | Symbol | Immediate
    offset: int = 0


class Group(msgspec.Struct, frozen=True):
    """`{a, b}`, the arguments of a call in parentheses, or the two results `d|p` of one instruction."""

    items: tuple[Operand, ...]


class Negated(msgspec.Struct, frozen=True):
    """`!p` or `-a`."""

    operand: Operand


class Sink(msgspec.Struct, frozen=True):
    """`_`: a result that is not used."""


Operand = Register | Special | Immediate | Symbol | Address | Group | Negated | Sink


class Loc(msgspec.Struct, frozen=True):
    """A `.loc`: the number of a file and a line in it; `inlined_at` is the call's place, if it was inlined."""

    file: int
    line: int
    inlined_at: Loc | None = None


class Instruction(msgspec.Struct, frozen=True):
    """An instruction of PTX.

    Attributes:
        opcode: "ld".
        modifiers: "global", "f32", … in their order, without dots.
        operands: destinations first, as written.
        guard: the predicate under which it is executed, or None.
        negated: the guard holds where the predicate is false.
        line: of the PTX text, from 1.
        loc: the `.loc` it stands under, if there is one.
    """

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Register | None = None
    negated: bool = False
    line: int = 0
    loc: Loc | None = None

    @property
    def name(self) -> str:
        """The opcode with its modifiers: "ld.global.f32"."""
        return ".".join((self.opcode, *self.modifiers))

    @property
    def type(self) -> str:
        """The last modifier that is a type; "" if there is none."""
        return next((m for m in reversed(self.modifiers) if m in BITS), "")


class Reference(msgspec.Struct, frozen=True):
    """An address within an initialiser: of `symbol` plus `offset`, as `bits` bits shifted right by `shift`."""

    at: int
    symbol: str
    offset: int
    size: int
    shift: int = 0


class Variable(msgspec.Struct, frozen=True):
    """A variable in a state space ("global", "const", "shared", "local", "param").

    Attributes:
        size: bytes; 0 for an `.extern .shared` array, whose size the launch chooses.
        initial: its first bytes, if it has an initialiser.
        references: addresses to be written into it when the module is loaded.
    """

    name: str
    space: str
    type: str
    size: int
    align: int
    initial: bytes = b""
    references: tuple[Reference, ...] = ()
    extern: bool = False


class Parameter(msgspec.Struct, frozen=True):
    """A parameter: `offset` is that in the packed parameters of a launch."""

    name: str
    type: str
    offset: int
    size: int
    align: int


class Function(msgspec.Struct, frozen=True):
    """An entry or a device function.

    Attributes:
        code: its instructions, in order.
        labels: the index in `code` that each label stands before; may be `len(code)`.
        variables: shared, local and call parameters declared in it, by name.
        targets: labels by name of a `.branchtargets`.
        limits: performance directives: {"maxntid": (256, 1, 1)}.
    """

    name: str
    entry: bool
    parameters: tuple[Parameter, ...]
    returns: tuple[Parameter, ...] = ()
    registers: Mapping[str, Register] = msgspec.field(default_factory=dict[str, Register])
    variables: Mapping[str, Variable] = msgspec.field(default_factory=dict[str, Variable])
    code: tuple[Instruction, ...] = ()
    labels: Mapping[str, int] = msgspec.field(default_factory=dict[str, int])
    targets: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict[str, tuple[str, ...]])
    limits: Mapping[str, tuple[int, ...]] = msgspec.field(default_factory=dict[str, tuple[int, ...]])
    defined: bool = True
    line: int = 0

    @property
    def cluster(self) -> tuple[int, int, int]:
        """Blocks of a cluster along x, y, z."""
        x, y, z = (*self.limits.get("reqnctapercluster", ()), 1, 1, 1)[:3]
        return x, y, z

    @property
    def parameter_size(self) -> int:
        """Bytes of all parameters together."""
        return max((p.offset + p.size for p in self.parameters), default=0)


class Program(msgspec.Struct, frozen=True):
    """A PTX module.

    Attributes:
        version: of the PTX ISA: (9, 5).
        target: "sm_90".
        files: names by number, of `.file`.
        functions: by name; declarations too, with `defined` false.
        variables: those of the module, by name.
    """

    version: tuple[int, int]
    target: str
    files: Mapping[int, str]
    functions: Mapping[str, Function]
    variables: Mapping[str, Variable]

    @property
    def entries(self) -> tuple[str, ...]:
        """Names of the kernels."""
        return tuple(name for name, function in self.functions.items() if function.entry)

    @property
    def addresses(self) -> dict[str, int]:
        """Numbers that represent the addresses of functions that are called through pointers; no memory is there."""
        named = {r.symbol for v in self.variables.values() for r in v.references}
        code = (i for f in self.functions.values() for i in f.code if i.opcode != "call")
        named |= {o.name for i in code for o in i.operands if isinstance(o, Symbol)}
        return {name: 16 * n for n, name in enumerate(self.functions, 1) if name in named}

    def entry(self, name: str) -> Function:
        """Return the function of that name that can be launched.

        Raises:
            BuildError: there is none.
        """
        function = self.functions.get(name)
        if function is None or not function.entry:
            raise BuildError(
                f"The PTX has no kernel {name!r}.", advice=f"It has {', '.join(self.entries) or 'none'}.", function=name
            )
        return function


def unsupported(what: str, line: int, program: tuple[int, int] | None = None, advice: str = "") -> BuildError:
    """Return the error of PTX that cannot be executed here: what it is, its line, the version of the PTX."""
    version = f", PTX {program[0]}.{program[1]}" if program else ""
    return BuildError(f"{what} (line {line} of the PTX{version}).", advice=advice, line=line)
