"""Tab on a magic's line: its options, the values that an option takes, and names of kernels and records.

In a cell of kernels, the words of the language (`words.py`).

Options come from a magic's argument parser, so a new one completes without a change here. IPython supports this since
8.6; with an older one, nothing is added.
"""

from __future__ import annotations

from argparse import Action, ArgumentParser
from collections.abc import Callable, Mapping
from typing import Any

import workbench as wb
from kernel_ext.magics.words import complete_word, kind_of_word
from kernel_ext.session.cells import RUNS, Headers, is_kernel
from kernel_ext.views.kernels import queries

Names = Callable[[Mapping[str, Any]], list[str]]


def _of(kinds: tuple[type, ...]) -> Names:
    """Return a function that lists the names of a namespace whose values are instances of `kinds`."""
    return lambda namespace: [n for n, v in namespace.items() if isinstance(v, kinds)]


def _kernels(namespace: Mapping[str, Any]) -> list[str]:
    """Return the names of a namespace that are bound to kernels."""
    return [n for n, v in namespace.items() if is_kernel(v)]


Completions = Mapping[tuple[str, str], Names]
PLACES: Completions = {
    ("inspect", "kernel"): _kernels,
    ("inspect", "panes"): lambda namespace: [*queries.PANES, "diff", *_kernels(namespace)],
    ("kernel", "annotate"): lambda _: list(queries.PANES),
    ("cuda", "run"): lambda _: list(RUNS),
    ("cuda", "annotate"): lambda _: list(queries.PANES),
    ("kernel", "constants"): _of((int, float)),
    ("cuda", "constants"): _of((int, float)),
    ("cache why", "what"): _kernels,
    ("replay", "name"): lambda namespace: _of((wb.Recorder,))(namespace),
    ("replay", "kernel"): _kernels,
    ("record", "name"): lambda _: ["on", "off"],
    ("tune", "name"): lambda namespace: [*_kernels(namespace), *_of((wb.Launch, wb.Graph))(namespace)],
    ("grad", "wrt"): _of((wb.array,)),
    ("tape", "loss"): _of((wb.array,)),
}
"""Completions of an argument that may be any word: by the magic, or it and its first word, and the argument's name."""

_HEADERS = (("cuda", "use"), ("cuda", "header"))


def complete(
    line: str, parsers: Mapping[str, ArgumentParser], namespace: Mapping[str, Any], completions: Completions = PLACES
) -> list[str] | None:
    """List, sorted, what may replace the last word of `line`, or the part of it behind its last comma.

    Args:
        line: the text before the cursor, from `%` on.
        parsers: magics (without `%`) and what parses their lines.
        namespace: the user's names.
        completions: what lists the values of arguments that have no fixed choices.

    Returns:
        The completions, options last; None if it is no line of these magics, or has no blank yet.
    """
    words = line.split(" ")
    parser = parsers.get(words[0].lstrip("%"))
    if not words[0].startswith("%") or parser is None or len(words) == 1:
        return None
    magic, before, last = words[0].lstrip("%"), [w for w in words[1:-1] if w], words[-1]
    options = {flag: action for action in parser._actions for flag in action.option_strings}
    option = options.get(before[-1]) if before else None
    if option is not None and option.nargs != 0:
        names = _values(option, completions.get((magic, option.dest)), namespace)
    elif last.startswith("-"):
        names = [flag for flag in options if flag not in ("-h", "--help") and flag.startswith("--") == (last != "-")]
        names += [flag for flag in options if last == "-" and flag.startswith("--")]
    else:
        positional = _positional(parser, before, options)
        names = []
        if positional is not None:
            command = " ".join((magic, *before[:1]))
            names = _values(
                positional,
                completions.get((magic, positional.dest)) or completions.get((command, positional.dest)),
                namespace,
            )
    start = last.rpartition(",")[2]
    return sorted({name for name in names if name.startswith(start) and not name.startswith("_")}, key=_order)


def _order(name: str) -> tuple[bool, str]:
    """Return the sort key of a completion: options (`-…`) last, each group by the alphabet."""
    return name.startswith("-"), name


def _values(action: Action, names: Names | None, namespace: Mapping[str, Any]) -> list[str]:
    """Return the values that an argument takes: its choices, else what `names` lists; empty without either."""
    if action.choices is not None:
        return [str(choice) for choice in action.choices if choice]
    return names(namespace) if names else []


def _positional(parser: ArgumentParser, before: list[str], options: Mapping[str, Action]) -> Action | None:
    """Return the positional argument that the next word belongs to; None if the magic has none."""
    count, skip = 0, False
    for word in before:
        action = options.get(word)
        if action is None and not skip:
            count += 1
        skip = action is not None and action.nargs != 0
    positionals = [a for a in parser._actions if not a.option_strings]
    return positionals[min(count, len(positionals) - 1)] if positionals else None


class Matcher:
    """Tab completion in one shell: `install` adds it, and `remove` leaves the shell as it was before."""

    def __init__(self, shell: Any, magics: tuple[Any, ...], headers: Headers) -> None:
        """Prepare to complete lines of these magics in `shell`, and names of headers that `%%cuda` cells saved."""
        self.shell = shell
        self._completions = {**PLACES, **dict.fromkeys(_HEADERS, lambda _: list(headers.sources))}
        self._parsers = {
            name: getattr(type(each), method).parser
            for each in magics
            for names in each.magics.values()
            for name, bound in names.items()
            if hasattr(type(each), method := getattr(bound, "__name__", name))
            and hasattr(getattr(type(each), method), "parser")
        }
        self._match: Any = None
        self._words: Any = None

    def install(self) -> None:
        """Add the matcher to the shell's completer; before IPython 8.6 nothing is added."""
        try:
            from IPython.core.completer import SimpleCompletion, context_matcher
        except ImportError:
            return

        @context_matcher(identifier="kernel_ext")
        def match(context: Any) -> dict[str, Any]:
            names = complete(context.line_with_cursor.lstrip(), self._parsers, self.shell.user_ns, self._completions)
            if names is None:
                return self._words(context)
            return {"completions": [SimpleCompletion(text=name) for name in names or ()], "suppress": bool(names)}

        def words(context: Any) -> dict[str, Any]:
            before = "\n".join([*context.full_text.split("\n")[: context.cursor_line], context.line_with_cursor])
            names = complete_word(context.full_text, before, context.token, self.shell.user_ns) or ()
            # A name of the notebook's may have the parameter's name; what it has is another thing.
            attributes = bool(names) and "." in context.token
            listed = [SimpleCompletion(text=name, type=kind_of_word(name)) for name in names]
            return {"completions": listed, "suppress": attributes}

        self._words, self._match = words, match
        self.shell.Completer.custom_matchers.append(match)

    def remove(self) -> None:
        """Remove the matcher from the shell's completer."""
        matchers = getattr(self.shell.Completer, "custom_matchers", [])
        if self._match in matchers:
            matchers.remove(self._match)
