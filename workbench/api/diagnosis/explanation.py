"""The answer of `explain_grad`: plain data, and the sentences for each cause."""

from __future__ import annotations

from html import escape

import msgspec

ADVICE = {
    "": "",
    "backward": "Call tape.backward(loss) first.",
    "unseen": "Use the array in a launch inside `with tape:`; operations in NumPy are not recorded.",
    "integers": "Make it an array of floats.",
    "requires_grad": "Create it with requires_grad=True, or read tape.gradients[x].",
    "unused": "Pass it to a kernel that reads it, on the way to the loss.",
    "unreached": "Let the loss use what is computed from it.",
    "overwritten": "Write the new values to another array, or change the order. If the gradient of the new values is "
    "what you want: backward(loss, retain_grad=True).",
    "intermediate": "To keep it there: backward(loss, retain_grad=True).",
    "cast": "Keep the value a float up to the loss.",
    "comparison": "Use the value itself beside the comparison: where(test, x, …), or a smooth step.",
    "index": "An index says which element is used; only the element's value has a derivative.",
    "condition": "A condition says what runs; let the values inside depend on the array.",
    "builtin": "It is constant between jumps; use a smooth function in its place.",
    "branch": "Choose inputs for which the branch runs, or give the other branch a slope.",
    "chosen": "At these values the other argument is chosen; start elsewhere, or use a smooth version.",
    "factor": "Something that it is multiplied by is 0; start elsewhere.",
    "slope": "The slope is 0 at these values; start elsewhere.",
    "elements": "The loss reads other elements than those that depend on the array.",
    "function": "The backward function given to record_func adds nothing to it.",
    "adjoint": "Rewrite the line that the message names.",
    "seed": "Give an adjoint other than 0.",
    "infinite": "Keep the argument away from there: add a small number, or choose by `where` before the call.",
    "overflow": "Scale the loss down, or use a wider float.",
    "value": "Fix the value first; the gradient cannot be better. `with wb.find_nan():` stops where it is produced.",
    "lost": "Start from adjoints that are finite.",
}
CUTS = {
    "cast": "{op} makes it an integer, and that has no derivative.",
    "integers": "it is handled as an integer ({op}), and that has no derivative.",
    "comparison": "only a comparison ({op}) sees it, and that has no derivative.",
    "index": "it is only used as an index, and that has no derivative.",
    "condition": "it only decides what runs ({op}), and that has no derivative.",
    "builtin": "{op} has the derivative 0 everywhere.",
}
_CHOSEN = ("chosen", "{op} chose the other argument.")
STOPS = {
    "where": _CHOSEN,
    "min": _CHOSEN,
    "max": _CHOSEN,
    "clamp": ("chosen", "{op} is at its limit."),
    "saturate": ("chosen", "{op} is at its limit."),
    "mul": ("factor", "the other factor of {op} is 0."),
    "load": ("elements", "the elements that are read here have no part in it."),
}


class Explanation(msgspec.Struct, frozen=True):
    """An explanation of why a gradient is zero, NaN, infinite, absent or fine.

    Attributes:
        state: "fine", "zero", "nan", "infinite" or "absent".
        cause: the short name of the reason, a key of `ADVICE`; "" if all is well.
        message: a sentence.
        kernel: the kernel in which it happens; "" if there is none.
        launch: which of the tape's steps, counted from 0; -1 for none.
        line: the line in the kernel's cell, as its reader counts; 0 if there is none.
        place: the line in words: `cell [3], line 12`.
        text: the line itself.
        advice: what to do.
    """

    state: str
    cause: str
    message: str
    kernel: str = ""
    launch: int = -1
    line: int = 0
    place: str = ""
    text: str = ""

    @property
    def advice(self) -> str:
        """Advice on what to do; empty if there is none."""
        return ADVICE[self.cause]

    def __str__(self) -> str:
        where = f"  ({self.place})" if self.place else ""
        shown = [f"gradient {self.state}: {self.message}{where}"]
        if self.text:
            shown.append(f"    {self.text}")
        return "\n".join([*shown, f"  {self.advice}"] if self.advice else shown)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the explanation's text for a notebook."""
        return f"<pre>{escape(str(self))}</pre>"
