"""PTX text to a `Program`: the module, its variables and the heads of its functions."""

from __future__ import annotations

import math

from msgspec.structs import replace

from workbench.backends.ptx.syntax.body import Body
from workbench.backends.ptx.syntax.expansions import expanded
from workbench.backends.ptx.syntax.program import BITS, Function, Parameter, Program, Reference, Variable, unsupported
from workbench.backends.ptx.syntax.tokens import Tokens

NEWEST = (9, 9)
"""The newest PTX ISA version that is read; in a later one the same words may mean something else."""
_LINKING = frozenset((".visible", ".extern", ".weak", ".common"))
_SPACES = frozenset((".global", ".const", ".shared", ".local", ".param"))
_BARE = frozenset(("noreturn", "explicitcluster", "unified", "blocksareclusters"))


def parse(text: str) -> Program:
    """Parse PTX text into a program.

    Args:
        text: PTX, as NVRTC makes it; a trailing NUL is allowed.

    Returns:
        The program. Its instructions are as written: nothing has been inlined or checked yet.

    Raises:
        BuildError: the text is not PTX of a version that is known here, or has a form that cannot be executed; the
            message names the line.

    Example:
        >>> parse(text).entry("saxpy").parameters[0].size
        32
    """
    return _Module(Tokens(expanded(text.rstrip("\0")))).read()


class _Module:
    """The parser of a PTX module, with the functions and variables that it has parsed so far."""

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.version = (0, 0)
        self.target = ""
        self.files: dict[int, str] = {}
        self.functions: dict[str, Function] = {}
        self.variables: dict[str, Variable] = {}

    def read(self) -> Program:
        """Parse the module; return it as a program.

        Raises:
            BuildError: it has no version or one too new, 32-bit addresses, or an unknown directive.
        """
        t = self.tokens
        while t.peek():
            line, word = t.line, t.next()
            if word == ".version":
                self._version()
            elif word == ".target":
                self.target = t.next()
                t.skip_line()
            elif word == ".address_size":
                if t.integer() != 64:
                    raise unsupported("Only 64-bit addresses can be executed", line, self.version)
            elif word == ".file":
                number = t.integer()
                self.files[number] = t.next().strip('"')
                t.skip_line()
            elif word == ".section":
                t.skip_braces()
            elif word in (".alias", ".pragma"):
                while t.next() != ";":
                    pass
            elif word in (".entry", ".func"):
                self._function(word == ".entry", line)
            elif word in _SPACES:
                declared = variable(t, word[1:], extern=False)
                self._declare(declared)
            elif word in _LINKING:
                self._linked(word == ".extern")
            elif word != ";":
                raise unsupported(f"{word!r} is not a directive of a PTX module", line, self.version or None)
        if not self.version[0]:
            raise unsupported("The text has no .version: it is not PTX", 1)
        return Program(self.version, self.target, self.files, self.functions, self.variables)

    def _version(self) -> None:
        """Parse the rest of `.version`; raise a BuildError if it is newer than `NEWEST`."""
        line, (major, minor) = self.tokens.line, self.tokens.next().split(".")
        self.version = (int(major), int(minor))
        if self.version > NEWEST:
            raise unsupported(
                f"PTX {major}.{minor} is newer than what is known here, {NEWEST[0]}.{NEWEST[1]}",
                line,
                advice="Use an older NVRTC, or a newer Workbench.",
            )

    def _linked(self, extern: bool) -> None:
        """Parse a function or variable after its first linking directive, `.extern` if `extern` is set."""
        t = self.tokens
        while t.peek() in _LINKING:
            extern |= t.next() == ".extern"
        line, word = t.line, t.next()
        if word in (".entry", ".func"):
            self._function(word == ".entry", line)
        else:
            self._declare(variable(t, word[1:], extern))

    def _declare(self, declared: Variable) -> None:
        """Add a variable, unless one of its name is declared that is not extern."""
        known = self.variables.get(declared.name)
        if known is None or known.extern:
            self.variables[declared.name] = declared

    def _function(self, entry: bool, line: int) -> None:
        """Parse a kernel or function after its directive, and add it; a declaration never replaces a definition.

        Raises:
            BuildError: its parameters or its body have a form that cannot be executed.
        """
        t = self.tokens
        while t.peek().startswith("."):  # .attribute, .noreturn before the name
            t.next()
            if t.peek() == "(" and t.words[t.at + 1].startswith("."):
                break
        returns = self._parameters() if t.peek() == "(" else ()
        name = t.next()
        parameters = self._parameters() if t.peek() == "(" else ()
        limits: dict[str, tuple[int, ...]] = {}
        while t.peek() not in ("{", ";"):
            limit = t.next().lstrip(".")
            if limit in _BARE:
                limits[limit] = ()
                continue
            if limit == "pragma":
                t.next()
                t.take(";")
                continue
            values = [t.integer()]
            while t.take(","):
                values.append(t.integer())
            limits[limit] = tuple(values)
        head = Function(name, entry, parameters, returns, limits=limits, line=line)
        if t.take(";"):
            self.functions.setdefault(name, replace(head, defined=False))
            return
        t.expect("{")
        self.functions[name] = Body(t, head, self.version, variable).read()

    def _parameters(self) -> tuple[Parameter, ...]:
        """Parse a list of parameters in parentheses, with their byte offsets in the packed parameters."""
        t = self.tokens
        t.expect("(")
        parameters: list[Parameter] = []
        offset = 0
        while not t.take(")"):
            word = t.next()
            if word not in (".param", ".reg"):
                raise unsupported(f"Expected a parameter, found {word!r}", t.line, self.version)
            p = variable(t, "param", extern=False, terminated=False)
            offset = -(-offset // p.align) * p.align
            parameters.append(Parameter(p.name, p.type, offset, p.size, p.align))
            offset += p.size
            t.take(",")
        return tuple(parameters)


def variable(t: Tokens, space: str, extern: bool, terminated: bool = True) -> Variable:
    """Parse the declaration of a variable after its state space; return the variable.

    Args:
        t: the tokens, which are advanced past the declaration.
        space: the state space, such as "shared".
        extern: whether it is declared `.extern`.
        terminated: whether the declaration ends with a `;`, which parameters lack.

    Raises:
        BuildError: the tokens are no declaration, or of a type that is not executed (textures, surfaces, samplers).
    """
    align, kind, vector, line = 0, "", 1, t.line
    while t.peek().startswith("."):
        for part in t.next()[1:].replace("::", "_").split("."):
            if part == "align":
                align = t.integer()
            elif part == "ptr":
                while t.peek() in (".global", ".shared", ".const", ".local", ".align"):
                    if t.next() == ".align":
                        t.integer()
            elif part in ("v2", "v4"):
                vector = int(part[1])
            elif part == "attribute":
                while t.next() != ")":
                    pass
            elif part in BITS:
                kind = part
            elif part not in ("shared", "global", "const", "local", "param"):
                raise unsupported(f"Variables of type .{part} cannot be executed", line)
    name = t.next()
    if not kind:
        raise unsupported(f"The variable {name!r} has no type", line)
    element = max(BITS[kind] // 8, 1)
    counts: list[int] = []
    unsized = False
    while t.take("["):
        unsized |= t.peek() == "]"
        counts.append(0 if t.peek() == "]" else t.integer())
        t.expect("]")
    initial, references = _initial(t, kind, element) if t.take("=") else (b"", ())
    size = element * vector * math.prod(counts)
    if unsized and initial:
        size = len(initial)
    if terminated:
        t.expect(";")
    return Variable(name, space, kind, size, align or element * vector, initial[:size], references, extern or unsized)


def _initial(t: Tokens, kind: str, element: int) -> tuple[bytes, tuple[Reference, ...]]:
    """Parse an initialiser; return its bytes, zeros where addresses go, and the references to those addresses.

    Raises:
        BuildError: it has a decimal float32 or a part of an address.
    """
    values, references = bytearray(), list[Reference]()

    def one() -> None:
        if t.take("{"):
            while not t.take("}"):
                one()
                t.take(",")
            return
        word = t.peek()
        if word[:1] in "-" or word[:1].isdigit():
            value = t.number()
            bits = value.value
            if kind == "f32" and value.kind == "f64":
                raise unsupported("Decimal f32 initialisers cannot be read", t.line)
            values.extend((bits % (1 << 8 * element)).to_bytes(element, "little"))
            return
        if word == "generic":
            t.next()
            t.expect("(")
            name = t.next()
            t.expect(")")
        else:
            name = t.next()
        if t.peek() == "(":  # a byte of an address: 0xFF00(symbol)
            raise unsupported("Initialisers with parts of addresses cannot be read", t.line)
        offset = t.integer() if t.take("+") else 0
        references.append(Reference(len(values), name, offset, element))
        values.extend(bytes(element))

    one()
    return bytes(values), tuple(references)
