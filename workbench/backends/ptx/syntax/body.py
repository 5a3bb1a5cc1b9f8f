"""The body of a PTX function: scopes, registers, labels and instructions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from workbench.backends.ptx.syntax.program import (
    Address,
    Function,
    Group,
    Immediate,
    Instruction,
    Loc,
    Negated,
    Operand,
    Register,
    Sink,
    Special,
    Symbol,
    Variable,
    unsupported,
)
from workbench.backends.ptx.syntax.tokens import Tokens

_VARIABLES = frozenset((".shared", ".local", ".param", ".global", ".const"))
_JUMPS = frozenset(("bra", "brx"))

Declaration = Callable[[Tokens, str, bool], Variable]


class _Scope:
    """The names declared between one pair of braces, each with its unique name in the function.

    Attributes:
        outer: the scope around it; None for the function's body.
        names: by declared name, the unique name of a register or a variable.
        labels: by declared name, the unique name of a label.
    """

    def __init__(self, outer: _Scope | None) -> None:
        self.outer = outer
        self.names: dict[str, str] = {}
        self.labels: dict[str, str] = {}


class Body:
    """The parser of one function's body, after its opening brace."""

    def __init__(self, tokens: Tokens, head: Function, version: tuple[int, int], declaration: Declaration) -> None:
        """Begin behind the body's opening brace.

        Args:
            tokens: of the module, which `read` advances.
            head: the function, without code and declarations.
            version: of the PTX, for messages.
            declaration: parses the declaration of a variable, as `parse.variable` does.
        """
        self.t = tokens
        self.head = head
        self.version = version
        self.declaration = declaration
        self.scope = _Scope(None)
        self.registers: dict[str, Register] = {}
        self.variables: dict[str, Variable] = {}
        self.labels: dict[str, int] = {}
        self.targets: dict[str, tuple[str, ...]] = {}
        self.code: list[Instruction] = []
        self.scopes: list[_Scope] = []  # of each instruction
        self.loc: Loc | None = None
        self.locations: dict[tuple[int, int, int], Loc] = {}  # by file, line and column: a call within what was inlined

    def read(self) -> Function:
        """Parse the body up to its closing brace; return the function: the head, with code and declarations.

        Raises:
            BuildError: it has a directive, a form of operand or a guard that cannot be executed, or a jump to no label.
        """
        t = self.t
        while True:
            line, word = t.line, t.peek()
            if word == "}":
                t.next()
                if self.scope.outer is None:
                    break
                self.scope = self.scope.outer
            elif word == "{":
                t.next()
                self.scope = _Scope(self.scope)
            elif word.startswith("."):
                self._directive(t.next(), line)
            elif t.words[t.at + 1 : t.at + 2] == [":"]:
                self._label(t.next(), line)
            elif word != ";":
                self._instruction(line)
            else:
                t.next()
        code = tuple(self._resolved(i, s) for i, s in zip(self.code, self.scopes, strict=True))
        return replace(
            self.head,
            registers=self.registers,
            variables=self.variables,
            code=code,
            labels=self.labels,
            targets=self.targets,
        )

    # Declarations.

    def _directive(self, word: str, line: int) -> None:
        """Parse the rest of a directive inside a body: a declaration, a source line, or one without effect.

        Raises:
            BuildError: it is of another kind.
        """
        t = self.t
        if word == ".reg":
            self._registers(line)
        elif word == ".loc":
            self._loc()
        elif word in _VARIABLES:
            declared = self.declaration(t, word[1:], False)
            name = self._unique(declared.name, self.variables)
            self.scope.names[declared.name] = name
            self.variables[name] = replace(declared, name=name)
        elif word in (".pragma", ".file", ".callprototype", ".attribute"):
            while t.next() != ";":
                pass
        else:
            raise unsupported(f"The directive {word} cannot be executed", line, self.version)

    def _registers(self, line: int) -> None:
        """Parse the rest of a `.reg` declaration, and add each register under a unique name; refuse vectors."""
        t = self.t
        kind = t.next()[1:]
        if kind.startswith(("v2", "v4")) or t.peek().startswith("."):
            raise unsupported("Vector registers cannot be executed", line, self.version)
        while True:
            name = t.next()
            if t.take("<"):
                count = t.integer()
                t.expect(">")
                names = [f"{name}{n}" for n in range(count)]
            else:
                names = [name]
            for each in names:
                unique = self._unique(each, self.registers)
                self.scope.names[each] = unique
                self.registers[unique] = Register(unique, kind)
            if not t.take(","):
                break
        t.expect(";")

    @staticmethod
    def _unique(name: str, taken: Mapping[str, object]) -> str:
        """Return `name`, with a number behind it if it is among `taken`."""
        unique, number = name, 0
        while unique in taken:
            number += 1
            unique = f"{name}.{number}"
        return unique

    def _loc(self) -> None:
        """Parse the rest of a `.loc`, whose source line then is that of the following instructions."""
        t = self.t
        file, line, column = t.integer(), t.integer(), t.integer()
        outer: Loc | None = None
        while t.take(","):
            word = t.next()
            if word == "inlined_at":
                call = t.integer(), t.integer(), t.integer()
                outer = self.locations.get(call) or Loc(*call[:2])
            elif word == "function_name":
                t.next()
                if t.take("+"):
                    t.integer()
        self.loc = self.locations[file, line, column] = Loc(file, line, outer)

    def _label(self, name: str, line: int) -> None:
        """Parse what follows a label: a table of branch targets, or nothing, which makes it the next instruction's."""
        t = self.t
        t.expect(":")
        if t.peek() in (".branchtargets", ".calltargets", ".callprototype"):
            kind, listed = t.next(), list[str]()
            while (word := t.next()) != ";":
                if word != ",":
                    listed.append(word)
            if kind == ".branchtargets":
                self.targets[name] = tuple(listed)
            return
        unique = self._unique(name, self.labels)
        self.scope.labels[name] = unique
        self.labels[unique] = len(self.code)

    # Instructions.

    def _instruction(self, line: int) -> None:
        """Parse an instruction with its guard and operands, and append it and its scope.

        Raises:
            BuildError: its guard is no predicate register, or an operand cannot be executed.
        """
        t = self.t
        guard, negated = None, False
        if t.take("@"):
            negated = t.take("!")
            named = self._named(t.next(), line)
            if not isinstance(named, Register) or named.type != "pred":
                raise unsupported("A guard must be a predicate register", line, self.version)
            guard = named
        opcode, *modifiers = t.next().split(".")
        operands: list[Operand] = []
        while not t.take(";"):
            operands.append(self._operand())
            if t.take("|"):
                operands[-1] = Group((operands[-1], self._operand()))
            t.take(",")
        self.code.append(Instruction(opcode, tuple(modifiers), tuple(operands), guard, negated, line, self.loc))
        self.scopes.append(self.scope)

    def _operand(self) -> Operand:
        """Parse the next operand: a group, an address, a negation, a number, or a name with an offset; return it.

        Raises:
            BuildError: it has a form that cannot be executed.
        """
        t = self.t
        line, word = t.line, t.peek()
        if word in "{(" and word:
            end = "}" if t.next() == "{" else ")"
            items: list[Operand] = []
            while not t.take(end):
                items.append(self._operand())
                t.take(",")
            return Group(tuple(items))
        if word == "[":
            return self._address(line)
        if word == "!":
            t.next()
            return Negated(self._operand())
        if word[:1].isdigit() or (word == "-" and t.words[t.at + 1][:1].isdigit()):
            return t.number()
        if word == "-":
            t.next()
            return Negated(self._operand())
        operand = self._named(t.next(), line)
        if isinstance(operand, Symbol) and t.take("+"):
            return Symbol(operand.name, t.integer())
        return operand

    def _address(self, line: int) -> Operand:
        """Parse an address in brackets, with its offsets summed; refuse addresses of several parts."""
        t = self.t
        t.expect("[")
        items: list[Operand] = []
        offset = 0
        while not t.take("]"):
            if t.take("+"):
                offset += t.integer()
            elif t.peek() == "-":
                offset += t.integer()
            elif t.take(","):
                raise unsupported(
                    "Addresses of several parts (textures, tensors) cannot be executed", line, self.version
                )
            else:
                items.append(self._operand())
        (base,) = items or (Immediate(0),)
        if not isinstance(base, (Register, Symbol, Immediate)):
            raise unsupported("This form of an address cannot be executed", line, self.version)
        if isinstance(base, Symbol) and base.offset:
            base, offset = Symbol(base.name), offset + base.offset
        return Address(base, offset)

    def _named(self, name: str, line: int) -> Operand:
        """Return the operand that a name means in the current scope: a register, a symbol, a special register, a sink.

        Raises:
            BuildError: it cannot be a name.
        """
        if name == "_":
            return Sink()
        scope: _Scope | None = self.scope
        while scope is not None:
            if name in scope.names:
                unique = scope.names[name]
                return self.registers.get(unique) or Symbol(unique)
            scope = scope.outer
        if name.startswith("%"):
            return Special(name)
        if name == "WARP_SZ":  # PTX's only constant with a name
            return Immediate(32)
        if not name[:1].isalpha() and name[:1] not in "$_":
            raise unsupported(f"{name!r} is no operand", line, self.version)
        return Symbol(name)

    def _resolved(self, instruction: Instruction, scope: _Scope) -> Instruction:
        """Return a jump with unique names for its labels, as its scope sees them; other instructions unchanged.

        Raises:
            BuildError: there is no such label.
        """
        if instruction.opcode not in _JUMPS:
            return instruction

        def resolved(operand: Operand) -> Operand:
            inner: _Scope | None = scope
            while isinstance(operand, Symbol) and inner is not None:
                if operand.name in inner.labels:
                    return Symbol(inner.labels[operand.name])
                inner = inner.outer
            if isinstance(operand, Symbol) and operand.name not in self.targets:
                raise unsupported(f"There is no label {operand.name!r}", instruction.line, self.version)
            return operand

        return replace(instruction, operands=tuple(resolved(o) for o in instruction.operands))
