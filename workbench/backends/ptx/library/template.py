"""Library text that reads and writes the launch's words by name."""

from __future__ import annotations

import re

from workbench.backends.ptx.context import ARRIVED, AT, BARRIERS, WORDS

PATIENCE = 4_000
"""Rounds in which a block's warps only turn in loops, 64 times each, until that counts as a deadlock."""
_CONSTANTS = {
    "LANESTEPS": "<" + ", ".join(f"i32 {n}" for n in range(32)) + ">",
    "LANELONGS": "<" + ", ".join(f"i64 {n}" for n in range(32)) + ">",
    "BARRIERBYTES": str(32 * BARRIERS),
    "BARRIERS": str(BARRIERS),
    "BARRIERROWS": str(8 * ARRIVED),
    "FRAMESAT": str(8 * AT["FRAMES"]),
    "IDLEAT": str(8 * AT["IDLE"]),
    "MOVEDAT": str(8 * AT["MOVED"]),
    "BLOCKBYTES": str(8 * WORDS + 2 * 8 * 64),
    "PATIENCE": str(PATIENCE),
    "SLOTSAT": str(8 * AT["SLOTS"]),
    "WORDBYTES": str(8 * WORDS),
    "WORDS": str(WORDS),
}


def expanded(text: str) -> str:
    """Expand this package's short forms in LLVM text.

    `GET NAME` loads a word of `%ctx` into `%NAME`, `SET NAME value` stores one, `AT NAME` is a word's address,
    `%x = SPLAT type value` has the value in all lanes; each is a line, or a line's end. Some constants have names.
    """
    count = 0

    def get(m: re.Match[str]) -> str:
        nonlocal count
        count += 1
        return f"  %g{count} = {_word_address(m[1])}\n  %{m[1]} = load i64, ptr %g{count}"

    def put(m: re.Match[str]) -> str:
        nonlocal count
        count += 1
        return f"  %s{count} = {_word_address(m[1])}\n  store i64 {m[2]}, ptr %s{count}"

    text = re.sub(r"^\s*GET (\w+)$", get, text, flags=re.M)
    text = re.sub(r"^\s*SET (\w+) (\S+)$", put, text, flags=re.M)
    text = re.sub(r"^  %([\w.]+) = SPLAT (\w+) (\S+)$", _splat, text, flags=re.M)
    text = re.sub(r"\bAT (\w+)$", lambda m: _word_address(m[1]), text, flags=re.M)
    return re.sub(r"\b(" + "|".join(_CONSTANTS) + r")\b", lambda m: _CONSTANTS[m[1]], text)


def _splat(m: re.Match[str]) -> str:
    """Return the LLVM IR of a `SPLAT`, a vector of 32 lanes that all hold one scalar."""
    lanes = f"<32 x {m[2]}>"
    return (
        f"  %{m[1]}.0 = insertelement {lanes} poison, {m[2]} {m[3]}, i32 0\n"
        f"  %{m[1]} = shufflevector {lanes} %{m[1]}.0, {lanes} poison, <32 x i32> zeroinitializer"
    )


def _word_address(name: str) -> str:
    """Return the LLVM text that computes the address of a named word of the launch's context, `%ctx`."""
    return f"getelementptr i8, ptr %ctx, i64 {8 * AT[name]}"
