"""A parsed PTX module: functions, variables and instructions, as they stand in the text.

Names are unique within a function: what an inner scope declares again has been renamed by the parser.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from workbench.errors import BuildError

SANITIZED = b"// sanitized\n"
"""The first line of PTX whose accesses to memory are checked when it runs; its `.loc`s are lines of a cell."""

BITS: dict[str, int] = {
    **{f"{kind}{bits}": bits for kind in "bsu" for bits in (8, 16, 32, 64)},
    **{"b128": 128, "pred": 1, "f16": 16, "bf16": 16, "f16x2": 32, "bf16x2": 32, "tf32": 32, "f32": 32, "f64": 64},
    **{"u16x2": 32, "s16x2": 32},
}
"""Width of each PTX type in bits."""


class Register(msgspec.Struct, frozen=True):
    """A virtual register of PTX; `type` is its declared type ("b32", "f32", "pred")."""

    name: str
    type: str


class Special(msgspec.Struct, frozen=True):
    """A special register of PTX, such as "%tid.x"."""

    name: str


class Immediate(msgspec.Struct, frozen=True):
    """A constant: an integer (`kind` is "int"), or a float ("f32", "f64") whose bit pattern `value` is."""

    value: int
    kind: str = "int"


class Symbol(msgspec.Struct, frozen=True):
    """An operand that names a variable, a parameter, a function or a label; `offset` bytes are added to its address."""

    name: str
    offset: int = 0


class Address(msgspec.Struct, frozen=True):
    """An address operand, `[base + offset]`; the offset is in bytes."""

    base: Register | Symbol | Immediate
    offset: int = 0


class Group(msgspec.Struct, frozen=True):
    """Several operands as one: a vector `{a, b}`, a call's arguments, or the two results `d|p` of an instruction."""

    items: tuple[Operand, ...]


class Negated(msgspec.Struct, frozen=True):
    """A negated operand: `!p` of a predicate, or `-a` of a number."""

    operand: Operand


class Sink(msgspec.Struct, frozen=True):
    """The operand `_`: a result that is not used."""


Operand = Register | Special | Immediate | Symbol | Address | Group | Negated | Sink


class Loc(msgspec.Struct, frozen=True):
    """A source line, as a `.loc` names it.

    Attributes:
        file: the number of a file (`Program.files`).
        line: the line in it.
        inlined_at: where the call is that was inlined; None if it was not.
    """

    file: int
    line: int
    inlined_at: Loc | None = None


class Instruction(msgspec.Struct, frozen=True):
    """An instruction of PTX.

    Attributes:
        opcode: the first part of its name, such as "ld".
        modifiers: the other parts in their order, without dots: "global", "f32", …
        operands: as written, which is destinations first.
        guard: the predicate under which it is executed; None: always.
        negated: the guard holds where the predicate is false.
        line: of the PTX text, from 1; 0 if not known.
        loc: the source line that it was compiled from; None if not known.
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
        """The opcode with its modifiers, such as "ld.global.f32"."""
        return ".".join((self.opcode, *self.modifiers))

    @property
    def type(self) -> str:
        """The last modifier that is a type; "" if there is none."""
        return next((m for m in reversed(self.modifiers) if m in BITS), "")


class Reference(msgspec.Struct, frozen=True):
    """An address that is part of a variable's initial value.

    Attributes:
        at: the byte of the variable at which it is stored.
        symbol: the variable or function whose address it is.
        offset: bytes added to the address.
        size: bytes to store.
        shift: bits that the address is shifted right by before that.
    """

    at: int
    symbol: str
    offset: int
    size: int
    shift: int = 0


class Variable(msgspec.Struct, frozen=True):
    """A variable in a state space ("global", "const", "shared", "local", "param").

    Attributes:
        name: unique in the module, or in the function that declares it.
        space: the state space.
        type: PTX type of its elements.
        size: bytes; 0 for an `.extern .shared` array, whose size the launch chooses.
        align: bytes.
        initial: its first bytes; the rest are zero.
        references: addresses to be written into it when the module is loaded.
        extern: it is declared `.extern`, or as an array without a size.
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
    """A parameter of a function; `offset` is its byte offset in the packed parameters of a launch, `size` its bytes."""

    name: str
    type: str
    offset: int
    size: int
    align: int


class Function(msgspec.Struct, frozen=True):
    """A kernel (an `.entry`) or a device function of PTX.

    Attributes:
        name: the symbol.
        entry: whether it is a kernel.
        parameters, returns: in order.
        registers: by name.
        variables: shared, local and call parameters declared in it, by name.
        code: its instructions, in order.
        labels: the index in `code` that each label stands before; may be `len(code)`.
        targets: the labels of each `.branchtargets`, by its name.
        limits: performance directives, such as {"maxntid": (256, 1, 1)}.
        defined: whether it has a body.
        line: of the PTX text, from 1.
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
        """Blocks of a cluster along x, y, z; (1, 1, 1) for a kernel without clusters."""
        x, y, z = (*self.limits.get("reqnctapercluster", ()), 1, 1, 1)[:3]
        return x, y, z

    @property
    def parameter_size(self) -> int:
        """Bytes of all parameters packed."""
        return max((p.offset + p.size for p in self.parameters), default=0)


class Program(msgspec.Struct, frozen=True):
    """A parsed PTX module.

    Attributes:
        version: of the PTX ISA, such as (9, 5).
        target: the architecture, such as "sm_90".
        files: names of source files by number.
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
        """By name of each function whose address is taken, the number that stands for it; no memory is there."""
        named = {r.symbol for v in self.variables.values() for r in v.references}
        code = (i for f in self.functions.values() for i in f.code if i.opcode != "call")
        named |= {o.name for i in code for o in i.operands if isinstance(o, Symbol)}
        return {name: 16 * n for n, name in enumerate(self.functions, 1) if name in named}

    def entry(self, name: str) -> Function:
        """Return the kernel of that name.

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
    """Return the error for PTX that cannot be executed here.

    Args:
        what: the sentence, without a full stop.
        line: of the PTX text.
        program: the version of the PTX, if known.
        advice: what to do about it.
    """
    version = f", PTX {program[0]}.{program[1]}" if program else ""
    return BuildError(f"{what} (line {line} of the PTX{version}).", advice=advice, line=line)
