"""PTX text as tokens: words, numbers, strings and punctuation, each with its line."""

from __future__ import annotations

import re
import struct
from bisect import bisect_right

from workbench.backends.ptx.syntax.program import Immediate, unsupported

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_TOKEN = re.compile(
    r"""0[fF][0-9a-fA-F]{8}(?!\w) | 0[dD][0-9a-fA-F]{16}(?!\w)
      | 0[xX][0-9a-fA-F]+U? | 0[bB][01]+U? | \d+\.\d+(?:[eE][-+]?\d+)? | \d+U?(?![\w])
      | \.?[%$_A-Za-z][\w$]*(?:(?:\.|::)[\w$]+)*
      | \.\d\w*(?:(?:\.|::)[\w$]+)*
      | "(?:[^"\\]|\\.)*" | [{}\[\](),;:@!|+\-<>=*~&^/] """,
    re.X,
)


class Tokens:
    """The tokens of a PTX text without its comments, with the position of the next one to read.

    Attributes:
        words: the tokens, and "" at the end.
        at: the index in `words` of the next token.
    """

    def __init__(self, text: str) -> None:
        text = _COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
        matches = list(_TOKEN.finditer(text))
        self.words = [m[0] for m in matches]
        self.words.append("")
        self._starts = [m.start() for m in matches]
        self._newlines = [m.start() for m in re.finditer("\n", text)]
        self.at = 0

    @property
    def line(self) -> int:
        """The line of the next token, from 1; at the end the text's last line."""
        if self.at >= len(self._starts):
            return len(self._newlines) + 1
        return bisect_right(self._newlines, self._starts[self.at]) + 1

    def peek(self) -> str:
        """Return the next token; "" at the end."""
        return self.words[self.at]

    def next(self) -> str:
        """Return the next token, and advance past it.

        Raises:
            BuildError: the text ends here.
        """
        word = self.words[self.at]
        if not word:
            raise unsupported("The PTX ends in the middle of a statement", self.line)
        self.at += 1
        return word

    def take(self, word: str) -> bool:
        """Advance past the next token if it is `word`; return whether it was."""
        if self.words[self.at] == word:
            self.at += 1
            return True
        return False

    def expect(self, word: str) -> None:
        """Advance past the next token, which must be `word`.

        Raises:
            BuildError: it is another one.
        """
        if not self.take(word):
            raise unsupported(f"Expected {word!r}, found {self.peek()!r}", self.line)

    def integer(self) -> int:
        """Return the integer that comes next, which may have a sign, and advance past it.

        Raises:
            BuildError: the next token is not an integer.
        """
        sign = -1 if self.take("-") else 1
        word = self.peek()
        if not word[:1].isdigit() or word[:2].lower() in ("0f", "0d") or "." in word:
            raise unsupported(f"Expected an integer, found {word!r}", self.line)
        return sign * _integer(self.next())

    def number(self) -> Immediate:
        """Return the integer or float that comes next, which may have a sign, and advance past it.

        A float in decimal is taken as float64; the next token has to be a number.
        """
        sign = -1 if self.take("-") else 1
        word = self.next()
        kind = word[:2].lower()
        if kind in ("0f", "0d") and len(word) > 2:
            bits = 32 if kind == "0f" else 64
            return Immediate(int(word[2:], 16) ^ ((1 << (bits - 1)) if sign < 0 else 0), f"f{bits}")
        if "." in word:
            return Immediate(struct.unpack("<Q", struct.pack("<d", sign * float(word)))[0], "f64")
        return Immediate(sign * _integer(word))

    def skip_line(self) -> None:
        """Advance to the end of the line that the previous token is on."""
        line = bisect_right(self._newlines, self._starts[self.at - 1])
        while self.at < len(self._starts) and bisect_right(self._newlines, self._starts[self.at]) == line:
            self.at += 1

    def skip_braces(self) -> None:
        """Advance past the next `{` and everything up to its matching `}`."""
        while self.next() != "{":
            pass
        depth = 1
        while depth:
            depth += {"{": 1, "}": -1}.get(self.next(), 0)


def _integer(word: str) -> int:
    """Return the value of a PTX integer in decimal, octal, hexadecimal or binary, which may end in U."""
    word = word.rstrip("U")
    return int(word, 8) if len(word) > 1 and word[0] == "0" and word.isdigit() else int(word, 0)
