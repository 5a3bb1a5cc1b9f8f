"""Calls within a PTX program replaced by the functions' bodies: what remains calls only the driver's functions.

There is no recursion, so each call's parameters have a fixed place: they become variables in local memory, or registers
where all accesses agree.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from workbench.backends.ptx.syntax.program import (
    BITS,
    Address,
    Function,
    Group,
    Immediate,
    Instruction,
    Loc,
    Negated,
    Operand,
    Program,
    Register,
    Symbol,
    Variable,
    unsupported,
)

BUILTINS = frozenset(("vprintf", "cudaGraphSetConditional", "__assertfail"))
"""Functions that the device provides; all others must be defined in the program."""
LONGEST = 200_000
"""The most instructions that a kernel may have after inlining."""


def inlined(program: Program, name: str) -> Function:
    """Return a kernel with its calls replaced by the bodies of the functions, except calls of `BUILTINS`.

    The variables in which calls pass parameters become variables in local memory, or registers. A call of a builtin has
    the operands `(returns), name, (arguments)`, whose items are symbols of local variables.

    Raises:
        BuildError: there is no such kernel, a call is recursive or of a function that is not defined, or the result has
            more than `LONGEST` instructions.
    """
    work = _Inliner(program)
    function = program.entry(name)
    body = work.expand(function, {}, "", (name,), None)
    variables = {n: replace(v, space="local") if v.space == "param" else v for n, v in body.variables.items()}
    inlined_kernel = replace(
        function,
        code=tuple(_local(i, body.variables) for i in body.code),
        labels=body.labels,
        registers=body.registers,
        variables=variables,
        targets=body.targets,
    )
    return _in_registers(inlined_kernel)


class _Body(msgspec.Struct):
    """The code and declarations of a function while calls in it are inlined; in a body, all names are unique.

    Attributes:
        code: the instructions so far.
        labels: by name, the index in `code` that a label stands before.
        registers, variables: by name.
        targets: the labels of each `.branchtargets`, by its name.
    """

    code: list[Instruction] = msgspec.field(default_factory=list[Instruction])
    labels: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    registers: dict[str, Register] = msgspec.field(default_factory=dict[str, Register])
    variables: dict[str, Variable] = msgspec.field(default_factory=dict[str, Variable])
    targets: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict[str, tuple[str, ...]])

    def take(self, other: _Body) -> None:
        """Append another body's code, and add its labels and declarations."""
        self.labels |= {label: at + len(self.code) for label, at in other.labels.items()}
        self.code += other.code
        self.registers |= other.registers
        self.variables |= other.variables
        self.targets |= other.targets


class _Inliner:
    """The expansion of the calls in a kernel, which counts calls for unique names and instructions for a limit."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.count = 0
        self.length = 0
        self.addresses = program.addresses

    def expand(
        self, function: Function, renamed: dict[str, str], suffix: str, stack: tuple[str, ...], at: Loc | None
    ) -> _Body:
        """Return a copy of a function's body with all calls but those of `BUILTINS` inlined, and names made unique.

        Args:
            function: the function.
            renamed: by parameter, the name of the caller's variable that stands for it.
            suffix: appended to the names of registers, variables and labels; "" for the kernel itself.
            stack: names of the functions that are being inlined, to notice recursion.
            at: where the call is in the source; None if not known, or for the kernel.

        Raises:
            BuildError: a call is recursive or of a function that is not defined, or there are too many
                instructions.
        """
        names = {n: n + suffix for n in (*function.variables, *function.labels, *function.targets)} | renamed
        out = _Body(
            registers={r.name + suffix: replace(r, name=r.name + suffix) for r in function.registers.values()},
            variables={v.name + suffix: replace(v, name=v.name + suffix) for v in function.variables.values()},
            targets={n + suffix: tuple(t + suffix for t in listed) for n, listed in function.targets.items()},
        )
        starts: dict[int, list[str]] = {}
        for label, index in function.labels.items():
            starts.setdefault(index, []).append(label + suffix)
        end = f"end{suffix}"
        for index, instruction in enumerate(function.code):
            out.labels |= dict.fromkeys(starts.get(index, ()), len(out.code))
            self._one(_renamed(instruction, names, suffix, at), out, end if suffix else "", stack)
            self.length += 1
            # Counted while it grows: a call tree can be exponential in the length of the text.
            if self.length > LONGEST:
                raise unsupported(
                    f"More than {LONGEST} instructions after inlining", instruction.line, self.program.version
                )
        out.labels |= dict.fromkeys(starts.get(len(function.code), ()), len(out.code))
        if suffix:
            out.labels[end] = len(out.code)
        return out

    def _one(self, instruction: Instruction, out: _Body, end: str, stack: tuple[str, ...]) -> None:
        """Append an instruction to `out`: a call as the callee's body, a return as a jump to `end` if that is set.

        A call of one of `BUILTINS` stays a call; a guarded call jumps around the body.
        """
        if instruction.opcode == "ret" and end:
            # A return of an inlined function goes behind its body.
            instruction = replace(instruction, opcode="bra", modifiers=(), operands=(Symbol(end),))
        if instruction.opcode != "call":
            out.code.append(self._addressed(instruction))
            return
        returns, target, arguments = self._call(instruction)
        if isinstance(target, Symbol) and target.name in BUILTINS:
            operands = (Group(returns), target, Group(arguments))
            out.code.append(replace(instruction, operands=operands))
            return
        self.count += 1
        over = f"over~{self.count}"
        if instruction.guard is not None:
            # A guarded call becomes a jump around the body, so lanes that do not call wait behind it.
            skip = replace(instruction, opcode="bra", modifiers=(), operands=(Symbol(over),))
            out.code.append(replace(skip, negated=not instruction.negated))
        plain = replace(instruction, guard=None, negated=False)
        if isinstance(target, Symbol):
            self._inline(plain, target.name, returns, arguments, out, stack)
        else:
            self._through(plain, target, returns, arguments, out, stack, over)
        out.labels[over] = len(out.code)

    def _inline(
        self, instruction: Instruction, name: str, returns: tuple[Operand, ...], arguments: tuple[Operand, ...],
        out: _Body, stack: tuple[str, ...],
    ) -> None:  # fmt: skip
        """Append the body of the function `name` to `out`, as the expansion of a call.

        Raises:
            BuildError: the function is not defined, or the call is recursive.
        """
        callee = self.program.functions.get(name)
        if callee is None or not callee.defined:
            raise unsupported(f"The function {name!r} is not defined", instruction.line, self.program.version)
        if name in stack:
            raise unsupported(
                f"The recursive call of {name!r} cannot be executed", instruction.line, self.program.version
            )
        self.count += 1
        pairs = (*zip(callee.parameters, arguments, strict=True), *zip(callee.returns, returns, strict=True))
        renamed = {p.name: s.name for p, s in pairs if isinstance(s, Symbol)}
        out.take(self.expand(callee, renamed, f"~{self.count}", (*stack, name), instruction.loc))

    def _through(
        self, instruction: Instruction, target: Operand, returns: tuple[Operand, ...], arguments: tuple[Operand, ...],
        out: _Body, stack: tuple[str, ...], over: str,
    ) -> None:  # fmt: skip
        """Append a call through a pointer to `out`, as an if-else chain over the functions that it may point to.

        These are the functions whose address is taken and that have as many parameters and results. Other addresses
        trap.
        """
        called = [self.program.functions[name] for name in self.addresses if name not in stack]
        sizes = len(arguments), len(returns)
        called = [f for f in called if f.defined and (len(f.parameters), len(f.returns)) == sizes]
        for callee in called:
            self.count += 1
            other, no = Register(f"%other~{self.count}", "pred"), f"no~{self.count}"
            out.registers[other.name] = other
            operands = other, target, Immediate(self.addresses[callee.name])
            out.code.append(replace(instruction, opcode="setp", modifiers=("ne", "b64"), operands=operands))
            jump = replace(instruction, opcode="bra", modifiers=(), operands=(Symbol(no),))
            out.code.append(replace(jump, guard=other))
            self._inline(instruction, callee.name, returns, arguments, out, stack)
            out.code.append(replace(jump, operands=(Symbol(over),)))
            out.labels[no] = len(out.code)
        out.code.append(replace(instruction, opcode="trap", modifiers=(), operands=()))

    def _addressed(self, instruction: Instruction) -> Instruction:
        """Return the instruction with the names of functions replaced by the numbers that stand for them."""
        if not any(isinstance(o, Symbol) and o.name in self.addresses for o in instruction.operands):
            return instruction
        operands = (
            Immediate(self.addresses[o.name]) if isinstance(o, Symbol) and o.name in self.addresses else o
            for o in instruction.operands
        )
        return replace(instruction, operands=tuple(operands))

    def _call(self, instruction: Instruction) -> tuple[tuple[Operand, ...], Operand, tuple[Operand, ...]]:
        """Return the result variables, the target and the argument variables of a call.

        Raises:
            BuildError: a result or an argument is not a variable.
        """
        operands = list(instruction.operands)
        returns: tuple[Operand, ...] = ()
        if isinstance(operands[0], Group):
            returns, operands = operands[0].items, operands[1:]
        target = operands.pop(0)
        arguments = operands[0].items if operands and isinstance(operands[0], Group) else ()
        if not all(isinstance(o, Symbol) for o in (*returns, *arguments)):
            raise unsupported(
                "Calls whose arguments are no .param variables cannot be executed",
                instruction.line,
                self.program.version,
            )
        return returns, target, arguments


def _renamed(instruction: Instruction, names: dict[str, str], suffix: str, at: Loc | None) -> Instruction:
    """Return an instruction with `suffix` on registers, symbols renamed by `names`, and `at` as its outermost location.

    Without a suffix it is unchanged.
    """
    if not suffix:
        return instruction

    def new(o: Operand) -> Operand:
        if isinstance(o, Register):
            return replace(o, name=o.name + suffix)
        if isinstance(o, Symbol):
            return replace(o, name=names.get(o.name, o.name))
        if isinstance(o, Address):
            return replace(o, base=new(o.base))  # type: ignore[arg-type]
        if isinstance(o, Group):
            return Group(tuple(map(new, o.items)))
        return Negated(new(o.operand)) if isinstance(o, Negated) else o

    guard = new(instruction.guard) if instruction.guard is not None else None
    loc = instruction.loc
    if loc is not None and at is not None:
        loc = replace(loc, inlined_at=loc.inlined_at or at)
    return replace(instruction, operands=tuple(map(new, instruction.operands)), guard=guard, loc=loc)  # type: ignore[arg-type]


def _local(instruction: Instruction, variables: dict[str, Variable]) -> Instruction:
    """Return an access to one of `variables`, which pass a call's parameters, as one to local memory.

    Other instructions are returned unchanged.
    """
    if "param" not in instruction.modifiers:
        return instruction
    for operand in instruction.operands:
        if isinstance(operand, Address) and isinstance(operand.base, Symbol) and operand.base.name in variables:
            modifiers = tuple(
                "local" if m == "param" else m for m in instruction.modifiers if m not in ("func", "entry")
            )
            return replace(instruction, modifiers=modifiers)
    return instruction


def _in_registers(function: Function) -> Function:
    """Return a function with registers in place of the variables that pass parameters and results of calls.

    A variable is replaced if it has 4 or 8 bytes and is only loaded and stored as one value of a single width.
    """
    forms: dict[str, set[tuple[int, int]]] = {}
    for instruction in function.code:
        plain = instruction.opcode in ("ld", "st") and instruction.modifiers[:1] == ("local",)
        for operand in instruction.operands:
            for inner in operand.items if isinstance(operand, Group) else ():
                forms.setdefault(_use(inner)[0], set()).add((-1, 0))
            name, form = _use(operand)
            if name:
                as_one = plain and len(instruction.modifiers) == 2 and isinstance(operand, Address)
                bits = BITS.get(instruction.type, 0)
                forms.setdefault(name, set()).add((form, bits) if as_one and form == 0 else (-1, 0))
    chosen = {
        name: Register(f"%{name}", f"b{next(iter(f))[1]}")
        for name, f in forms.items()
        if len(f) == 1 and next(iter(f))[0] == 0 and name in function.variables and _of_call(function.variables[name])
    }
    if not chosen:
        return function
    code = tuple(_moved(i, chosen) for i in function.code)
    registers = {**function.registers, **{r.name: r for r in chosen.values()}}
    variables = {n: v for n, v in function.variables.items() if n not in chosen}
    return replace(function, code=code, registers=registers, variables=variables)


def _of_call(variable: Variable) -> bool:
    """Return whether a variable passes a parameter or result of a call and fits a register of 32 or 64 bits."""
    return variable.space == "local" and variable.size in (4, 8) and variable.name.startswith(("param", "retval"))


def _use(operand: Operand) -> tuple[str, int]:
    """Return the name of the variable in an operand, and the byte offset of the access to it.

    The offset is -1 if the operand is the variable's address itself; without a variable the two are "" and 0.
    """
    if isinstance(operand, Address) and isinstance(operand.base, Symbol):
        return operand.base.name, operand.offset
    if isinstance(operand, Symbol):
        return operand.name, -1
    return "", 0


def _moved(instruction: Instruction, chosen: dict[str, Register]) -> Instruction:
    """Return a load or store of a variable among `chosen` as a mov of its register; other instructions unchanged."""
    if instruction.opcode not in ("ld", "st"):
        return instruction
    names = [_use(o)[0] for o in instruction.operands]
    name = next((n for n in names if n in chosen), None)
    if name is None:
        return instruction
    first, second = instruction.operands
    operands = (first, chosen[name]) if instruction.opcode == "ld" else (chosen[name], second)
    return replace(instruction, opcode="mov", modifiers=(chosen[name].type,), operands=operands)
