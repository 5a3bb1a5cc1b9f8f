"""Kernels brought over from Warp: the lines that run as they are, but mean something else here.

Warp divides integers as C does and drops the `else` of a loop; here both mean what Python means. Some builtins give
other numbers at ties and outside of their domain. Where a kernel says `import_from_warp=True`, its lowering notes every
such line; nothing else changes. A kernel of `workbench.compat.warp` gets Warp's meaning instead where the language can
say it (`builtins/warp.py`), and is noted where it cannot. (Read in the native headers of Warp 1.19.)
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from workbench.builtins.declaration.declare import Form
from workbench.builtins.warp import MEANINGS
from workbench.frontend.state.context import Context, Notice
from workbench.frontend.state.definition import Definition
from workbench.frontend.state.operands import Bundle, Literal, Operand
from workbench.ir.values import Value
from workbench.source import Location
from workbench.tiles import is_tile
from workbench.types import Scalar, Vector, element, is_float

DIVISION = "/ on integers returns a float here, as in Python; Warp drops the fraction."
REMAINDER = "% takes the divisor's sign here, as in Python; Warp takes the dividend's, so negative numbers differ."
ELSE = "The else of a loop runs here if no break left it, as in Python; Warp drops it."
NOT_NEGATIVE = "Nothing needs to change if neither side is negative."
SIGNS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Div: (DIVISION, "Write // for whole numbers."),
    ast.Mod: (REMAINDER, NOT_NEGATIVE),
}
NAMED: dict[str, type[ast.operator]] = {"div": ast.Div, "mod": ast.Mod}
_BEYOND = "{0} of a value outside -1 to 1 is NaN here; Warp uses the nearer of the two."
BUILTINS: dict[str, tuple[str, str]] = {
    "sign": ("sign(0) is 0 here, as in NumPy; Warp returns 1.", "Write where(x < 0.0, -1.0, 1.0) if that matters."),
    "round": (
        "round rounds halves to the even number here, as in Python; Warp rounds them away from zero.",
        "Write floor(x + 0.5) for numbers that are not negative.",
    ),
    "acos": (_BEYOND.format("acos"), "Write acos(clamp(x, -1.0, 1.0)) if x may be rounded beyond."),
    "asin": (_BEYOND.format("asin"), "Write asin(clamp(x, -1.0, 1.0)) if x may be rounded beyond."),
}

_NOISE = (
    "{0} returns different values than in Warp, of the same kind.",
    "Compare results computed from it, not its values.",
)
FORMS: dict[str, tuple[str, str]] = {
    "rand_init": (
        "The first number drawn from a state equals Warp's; the later ones differ.",
        "Compare distributions, not draws.",
    ),
    **{name: (_NOISE[0].format(name), _NOISE[1]) for name in ("noise", "pnoise", "curlnoise")},
    "poisson": (_NOISE[0].format("poisson"), "Compare distributions, not draws."),
    "lower_bound": (
        "lower_bound beyond the last element is the length here, as in NumPy; Warp returns the last index.",
        "Write min(lower_bound(a, v), len(a) - 1) if that matters.",
    ),
}


def meaning(context: Context, name: str, operands: Sequence[Operand]) -> Form | None:
    """Return the form for Warp's meaning of a builtin on these operands.

    Returns:
        The form; None if the kernel does not request Warp's meanings, or the builtin means the same on them.
    """
    if not context.shared.warp_meanings or context.definition.library:
        return None
    integers = all(map(_is_int, operands))
    form = MEANINGS.get((name, "int" if integers else "float"))
    if form is None or len(operands) != {"step": 1, "min": 2, "max": 2}.get(name, len(operands)):
        return None
    if name == "mod" and all(_is_positive(context, o) for o in operands):
        return None
    if name in ("min", "max", "clamp") and all(isinstance(o, Literal) for o in operands):
        return None
    if not all(isinstance(o, Literal) or is_tile(o) or _is_number(o) for o in operands):
        return None
    types = [o.type for o in operands if isinstance(o, Value) and isinstance(o.type, Vector)]
    products = len(types) > 1 and name != "cw_div" and any(type(t) is not Vector for t in types)
    return form if len({t.shape for t in types}) < 2 and not products else None


def meaning_of_form(context: Context, form: Form) -> Form:
    """Return the form for Warp's meaning of a form, if the kernel requests it and there is one; else the same form."""
    return MEANINGS.get((form.name, "form"), form) if context.shared.warp_meanings else form


def is_handle(context: Context, operand: Operand) -> bool:
    """Return whether an operand is a struct in a kernel with Warp's meanings, where a mesh or a tree is a number."""
    return context.shared.warp_meanings and isinstance(operand, Bundle)


def _is_number(operand: Operand) -> bool:
    """Return whether an operand is a scalar or vector value; False of literals."""
    return isinstance(operand, Value) and isinstance(operand.type, (Scalar, Vector))


def note_operator(context: Context, sign: type[ast.operator], left: Operand, right: Operand) -> None:
    """Note a division or remainder whose result may be another one in Warp, if the kernel requests notices."""
    if context.shared.notices is None or context.shared.warp_meanings or sign not in SIGNS:
        return
    if sign is not ast.Mod and not (_is_int(left) and _is_int(right)):  # of floats, / and // are the same
        return
    if sign is not ast.Div and _is_positive(context, left) and _is_positive(context, right):
        return
    _note(context, context.definition.locate(context.node or context.definition.node), *SIGNS[sign])


def note_call(context: Context, name: str, operands: Sequence[Operand]) -> None:
    """Note a call of a builtin that gives another number in Warp, if the kernel requests notices.

    Raises:
        KernelTypeError: `step` with one argument, which Warp has and this language has not, requested or not.
    """
    if name == "step" and len(operands) == 1:
        message = "step() takes an edge and x; it got 1 argument."
        raise context.type_error(message, "Write where(x < 0.0, 1.0, 0.0) for the step of one argument that Warp has.")
    if name in NAMED and len(operands) == 2:
        note_operator(context, NAMED[name], *operands)
    elif name in BUILTINS and _warns(context) and not all(map(_is_int, operands)):
        _note(context, context.definition.locate(context.node or context.definition.node), *BUILTINS[name])


def note_form(context: Context, name: str) -> None:
    """Note a form (`rand_init`, `noise`, …) that gives other numbers in Warp, if the kernel requests notices."""
    same = context.shared.warp_meanings and (name == "rand_init" or (name, "form") in MEANINGS)
    if name in FORMS and context.shared.notices is not None and not same:
        _note(context, context.definition.locate(context.node or context.definition.node), *FORMS[name])


def note_loops(context: Context, definition: Definition) -> None:
    """Note the `else` of each loop of a function, which Warp drops, if the kernel requests notices."""
    if context.shared.notices is None:
        return
    for node in ast.walk(definition.node):
        if isinstance(node, (ast.For, ast.While)) and node.orelse:
            _note(context, definition.locate(node.orelse[0]), ELSE, "Leave it out, or write after the loop.")


def _note(context: Context, location: Location, message: str, advice: str) -> None:
    """Append a notice to those of the lowering, unless it has the same one already."""
    notices = context.shared.notices
    assert notices is not None
    notice = Notice(location, message, advice)
    if notice not in notices:
        notices.append(notice)


def _warns(context: Context) -> bool:
    """Return whether the kernel requests notices and its names do not mean what they mean in Warp."""
    return context.shared.notices is not None and not context.shared.warp_meanings


def _is_int(operand: Operand) -> bool:
    """Return whether an operand is an integer literal, or a value whose type is no float type."""
    if isinstance(operand, Literal):
        return not operand.is_float
    return isinstance(operand, Value) and not is_float(operand.type)


def _is_positive(context: Context, operand: Operand) -> bool:
    """Return whether an operand is known not to be negative: a literal of 0 or more, unsigned, or noted as such."""
    if isinstance(operand, Literal):
        return operand.value >= 0
    unsigned = isinstance(operand, Value) and element(operand.type).kind.value in ("uint", "bool")
    return unsigned or operand in context.shared.non_negative
