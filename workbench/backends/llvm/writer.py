"""LLVM IR text in the making: one function's lines, names, basic blocks.

Text and not llvmlite's builder objects: a kernel is written in tenths of a millisecond, and what is written is what a
reader of `%inspect` sees.
"""

from __future__ import annotations


class Writer:
    """The LLVM IR of one function while it is written.

    Attributes:
        head: the lines that run once, before the loops; `once` adds to them.
        lines: all others.
        declarations: text outside of the function, by name.
        label: the basic block that is open.
        lanes: the number of lanes for which a subclass rewrites instructions; 0: they are written as they are.
    """

    lanes = 0

    def __init__(self) -> None:
        """Begin without lines, with the block `entry` open."""
        self.head: list[str] = []
        self.lines: list[str] = []
        self.declarations: dict[str, str] = {}
        self.label = "entry"
        self._known: dict[tuple[object, ...], str] = {}
        self._count = 0

    def name(self, hint: str = "") -> str:
        """Return a new register's name, different from all before; it contains `hint` if that is ASCII."""
        self._count += 1
        hint = hint and hint.replace("[]", "")
        return f"%{hint}.{self._count}" if hint and hint.isascii() else f"%v{self._count}"

    def block_name(self, hint: str) -> str:
        """Return a new basic block's label, different from all before."""
        self._count += 1
        return f"{hint}.{self._count}"

    def emit(self, instruction: str, hint: str = "") -> str:
        """Write an instruction; return the register of its result, whose name contains `hint` as `name` has it."""
        if self.lanes:
            return self.emit_wide(instruction, hint)
        if hint:
            register = self.name(hint)
        else:
            self._count += 1
            register = f"%v{self._count}"
        self.lines.append(f"  {register} = {instruction}")
        return register

    def emit_wide(self, instruction: str, hint: str) -> str:
        """Write an instruction for `lanes` lanes; return the register of its result."""
        raise NotImplementedError

    def do(self, instruction: str) -> None:
        """Write an instruction that has no result."""
        self.lines.append(f"  {instruction}")

    def called(self, result: str, name: str, *arguments: str) -> str:
        """Declare a function, unless it is known, and return the text of a call of it.

        Args:
            result: its LLVM type.
            name: of the function.
            arguments: each with its type in front.
        """
        if name not in self.declarations:
            kinds = ", ".join(a[: a.index(">") + 1] if a.startswith("<") else a.split(" ", 1)[0] for a in arguments)
            self.declare(name, f"declare {result} @{name}({kinds})")
        return f"call {result} @{name}({', '.join(arguments)})"

    def call(self, result: str, name: str, *arguments: str) -> str:
        """Write a call, as of `called`; return the register of its result, "" if it is void."""
        text = self.called(result, name, *arguments)
        if result != "void":
            return self.emit(text)
        self.do(text)
        return ""

    def splat(self, kind: str, constant: str, lanes: int) -> str:
        """Return a vector with a constant of type `kind` in every lane, without its type; here it is a constant."""
        return f"splat ({kind} {constant})"

    def once(self, key: tuple[object, ...], instruction: str, hint: str = "") -> str:
        """Write an instruction into the head, unless this was done for `key` before; return its register."""
        if key not in self._known:
            register = self.name(hint)
            self.head.append(f"  {register} = {instruction}")
            self._known[key] = register
        return self._known[key]

    def open(self, label: str) -> None:
        """Begin a basic block."""
        self.lines.append(f"{label}:")
        self.label = label

    def jump(self, label: str) -> None:
        """End the open block with a jump."""
        self.lines.append(f"  br label %{label}")

    def branch(self, condition: str, then: str, orelse: str, mark: str = "") -> None:
        """End the open block with a conditional branch; `mark` is LLVM metadata to append."""
        self.lines.append(f"  br i1 {condition}, label %{then}, label %{orelse}{mark}")

    def reserve(self) -> int:
        """Leave a line empty, for a phi whose operands are not known yet; return its number for `fill`."""
        self.lines.append("")
        return len(self.lines) - 1

    def fill(self, line: int, register: str, instruction: str) -> None:
        """Write an instruction, with its result's register, into a line that `reserve` left empty."""
        self.lines[line] = f"  {register} = {instruction}"

    def declare(self, name: str, text: str) -> None:
        """Set the text outside of this function that declares or defines `name`."""
        self.declarations[name] = text
