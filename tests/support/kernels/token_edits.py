"""Valid kernels and random edits of their tokens: what a hand that slips makes of them, and worse."""

from __future__ import annotations

import ast
import io
import keyword
import random
import textwrap
import tokenize

from tests.frontend.functions import test_functions, test_golden_texts
from tests.frontend.meaning import test_meaning_of_iteration
from tests.support.kernels import statement_bodies
from workbench.builtins.declaration.declare import FORMS, TABLE
from workbench.types import SCALARS

LEFT_EARLY = (
    "break and continue",
    "else of for",
    "break both ways",
    "nested loops",
    "while with branch",
    "loop with swap",
)
IN_TURN = ("elements of two types", "pairs", "enumerate of zip", "enumerate of range left", "zip strict", "in a chain")
VALUES = ("floor division and remainder", "powers of ints", "names swapped", "min and max of three", "annotated")


def _number(kind: str, body: str) -> str:
    array = "array[int]" if kind == "int" else "array[float64]"
    head = f"def k(x: {array}, y: {array}):\n    i = tid()\n    v = x[i]\n"
    return f"{head}{textwrap.indent(body, '    ')}\n    y[i] = r\n"


MORE = {
    "matrices": """
        def k(a: array[mat33d], v: array[vec3d], s: array[float64]):
            i = tid()
            m = a[i] @ transpose(a[i]) * s[i] + identity(n=3, dtype=float64)
            m[0, 1] = v[i].x
            m[1] = v[i]
            for p in range(3):
                m[p, 2] -= m[2, p]
            r = inverse(m) @ v[i]
            v[i] = normalize(r) if determinant(m) != 0.0 else vec3d(1.0, r.y, dot(r, r))
        """,
    "quaternions": """
        def k(q: array[quat], p: array[vec3], s: float):
            i = tid()
            turned = quat_rotate(normalize(q[i]), p[i]) + vec3(0.5, 1.0, -2.0)
            q[i] = quat_from_axis_angle(turned, 0.25) * quat_inverse(q[i])
            p[i] = quat_rotate_inv(q[i], turned) * s
        """,
    "decompositions": """
        def k(a: array[mat33], s: array[vec3]):
            i = tid()
            u, d, v = svd3(a[i])
            q, r = qr3(a[i])
            s[i] = d + get_diag(r) * 2.0
            a[i] = u @ diag(d) @ transpose(v) - q @ r
        """,
    "random numbers": """
        def k(seed: int, whole: array2d[int], unit: array[float]):
            i = tid()
            state = rand_init(seed, i)
            s = 0.0
            for q in range(4):
                whole[i, q] = randi(state, -5, q + 12)
                if randf(state) < 0.5:
                    continue
                s += randf(state, -2.0, 3.0)
            unit[i] = s + noise(state, s)
        """,
    "walks": """
        def k(y: array[int]):
            i, j = tid()
            state = rand_init(7, i * 3 + j)
            n = 0
            while True:
                n += 1
                if randf(state) < 0.2 or n > 40:
                    break
            atomic_max(y, n % len(y), n)
        """,
    "atomics": """
        def k(x: array2d[float], bins: array[int], old: array[int]):
            i, j = tid()
            b = int(x[i, j] * 10.0) % len(bins)
            old[i] = atomic_add(bins, b, 1)
            bins[-1] ^= 5
            atomic_min(bins, b - 1, old[i])
        """,
    "search": """
        def k(knots: array[float64], x: array[float64], y: array[float64]):
            i = tid()
            j = clamp(lower_bound(knots, x[i]), 1, len(knots) - 1)
            t = (x[i] - knots[j - 1]) / (knots[j] - knots[j - 1])
            y[i] = knots[j - 1] * (1.0 - t) + lerp(knots[j], sqrt(x[i]), t)
        """,
    "funcs with several results": """
        def both(a, b=2.0):
            return a + b, a * b

        def clip(a, low, high):
            for q in range(3):
                if a < low:
                    return low
            return high if a > high else a

        def k(x: array[float], y: array[float]):
            i = tid()
            s, p = both(x[i])
            t, q = both(b=3.0, a=x[i])
            y[i] = clip(s + p + t + q, high=20.0, low=-4.0)
        """,
    "static values": """
        def weighted(a, power):
            return a * static(2 ** power) if static(power > 1) else a

        def k(x: array[float], y: array[float]):
            i = tid()
            s = 0.0
            for q in (0, 1, 2):
                s += x[i] * static(TAPS[q]) + weighted(x[i], q)
            y[i] = s + static(math.pi * SCALE) * static(len(TAPS))
        """,
    "asserts": """
        def k(n: int, x: array[int], y: array[int64]):
            i = tid()
            assert 0 <= i < n and n <= len(x), "too many threads"
            a, (b, c) = x[i], (n // 3, n % 7)
            y[i] = int64(a << (b & 7)) | ~c
            y[i] += int64(a if a not in (1, 4, b) else a >> 1)
            if not a:
                return
            y[-i - 1] = int64(x.shape[0] * y.shape[0])
        """,
    "parts of vectors": """
        def k(p: array[vec3], q: array[vec4], s: vec2):
            i = tid()
            v = p[i]
            v.y = v.x * s[1]
            v[2] += 1.0
            total = vec4()
            for k, c in enumerate(v):
                total[k] = c / length(s) - min(v.z, 0.5)
            q[i] = total
            p[i] = cross(v, p[i]) * v.xzy
        """,
    "small types": """
        def k(h: array[int16], b: array[uint8], f: array[bool], u: array[uint64]):
            i = tid()
            b[i] = uint8(b[i] * 3 + uint8(7)) >> uint8(1)
            h[i] = h[i] * int16(5) - int16(i)
            f[i] = f[i] and h[i] > 1 or b[i] == 3
            u[i] ^= u[i] << uint64(13)
        """,
    "three dimensions": """
        def stencil(x: array3d[float], y: array3d[float], c: float = 0.5):
            i, j, k = tid()
            if i == 0 or j == 0 or k == 0 or i >= x.shape[0] - 1:
                return
            near = x[i - 1, j, k] + x[i + 1, j, k] + x[i, j - 1, k]
            y[i, j, k] = c * near + pow(x[i, j, k], 2.0) * exp(-abs(x[i, j, k]))
        """,
}  # fmt: skip


def _corpus() -> dict[str, str]:
    found = {
        name: _number(*module.BODIES[name])
        for module, names in ((statement_bodies, LEFT_EARLY + VALUES), (test_meaning_of_iteration, IN_TURN))
        for name in names
    }
    typed = {
        name: getattr(test_functions, name).replace("k(x, y)", "k(x: array[float64], y: array[float64])")
        for name in ("APPLY", "OVERLOADS")
    }
    texts = found | MORE | typed | test_golden_texts.KERNELS
    return {name: textwrap.dedent(text).strip("\n") + "\n" for name, text in texts.items()}


CORPUS = _corpus()
OPERATORS = (
    *"+ - * / // % ** @ << >> & | ^ < <= > >= == != and or".split(), "not in", "in",
    "is", "is not", "=", "+=", "*=", ":=",
)  # fmt: skip
MARKS = (
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    ".",
    "~",
    "-",
    "not",
    "*",
    "**",
    "...",
    "->",
    "@",
    ";",
    "\\",
    "$",
    "\n",
)
NUMBERS = (
    "0", "1", "2", "3", "-1", "7", "63", "64", "255", "2147483647", "2147483648", "-9223372036854775808",
    "1" + "0" * 30,
    "1" + "0" * 400, "0.0", "-0.0", "0.5", "-2.5", "1e400", "1e-400", "1e308", "2j", "0x7F", "True", "False", "None",
    "'text'", "b'bytes'", "f'{i}'", "()", "(1, 2)", "[1]", "{}", "lambda: 1", "-(2**63)", "math.nan", "math.inf",
)  # fmt: skip
TYPES = (
    *SCALARS, "float", "int", "vec2", "vec3", "vec3d", "vec4", "mat22", "mat33d", "quat", "transform", "array",
    "array2d",
    "array[int]", "array2d[float]", "array(dtype=float)", "Any", "Float", "Int", "Scalar", "Callable",
)  # fmt: skip
USER = (
    "SCALE", "TAPS", "MATRIX", "HUGE", "TEXT", "NOTHING", "THING", "math", "np", "math.sin", "np.pi", "np.float32",
    "Kind",
    "Kind.A", "abs", "min", "max", "sum", "len", "range", "enumerate", "zip", "round", "print", "static", "constant",
    "str",
)  # fmt: skip
CALLED = tuple(n for n in (*TABLE, *FORMS) if n.isidentifier() and not keyword.iskeyword(n))
LOCAL = ("i", "j", "k", "x", "y", "v", "r", "s", "q", "a", "m", "state", "shape", "T", "xy", "grad", "__class__", "é")
WORDS = {
    "name": (LOCAL, LOCAL, CALLED, TYPES, USER, NUMBERS),
    "keyword": (tuple(keyword.kwlist), OPERATORS),
    "number": (NUMBERS, NUMBERS, LOCAL, USER),
    "operator": (OPERATORS,),
    "mark": (OPERATORS, MARKS),
}
ANY = (OPERATORS, MARKS, NUMBERS, TYPES, USER, CALLED, LOCAL, tuple(keyword.kwlist))
KINDS = {tokenize.NUMBER: "number", tokenize.STRING: "number", tokenize.OP: "mark"}
EDITS = ("delete", "duplicate", "swap", "swap", "other", "other", "replace", "replace", "replace", "replace", "insert")
DRAWS = 12  # for a text that Python can parse: most edits break that, which is soon tested


def _kind(token: tokenize.TokenInfo) -> str:
    if token.type == tokenize.NAME:
        return "keyword" if keyword.iskeyword(token.string) else "name"
    return "operator" if token.string in OPERATORS else KINDS.get(token.type, "")


def pieces(text: str) -> list[tuple[str, str, str]]:
    """The text's tokens: the space before each, the token, and its kind; together they are the text."""
    found, lines = [], text.splitlines(keepends=True)
    row, column = 1, 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        line, start = token.start
        gap = lines[line - 1][column if line == row else 0 : start] if line <= len(lines) else ""
        found.append((gap, token.string, _kind(token)))
        row, column = token.end
    return found


def _edited(tokens: list[tuple[str, str, str]], rng: random.Random) -> None:
    kinds = {kind for _, _, kind in tokens} - {""}
    chosen = rng.choice(sorted(kinds - {"mark"}) * 4 + ["mark"])
    alike = [k for k, (_, _, kind) in enumerate(tokens) if kind == chosen]
    k, other = rng.choice(alike), rng.choice(alike)
    gap, word, kind = tokens[k]
    words = rng.choice(WORDS[kind] if rng.random() < 0.8 else ANY)
    match rng.choice(EDITS):
        case "delete":
            tokens[k] = (gap, "", "")
        case "duplicate":
            tokens.insert(k, (gap, f"{word} ", kind))
        case "swap":
            tokens[k], tokens[other] = (gap, tokens[other][1], kind), (tokens[other][0], word, kind)
        case "other":
            tokens[k] = (gap, tokens[other][1], kind)
        case "replace":
            tokens[k] = (gap, rng.choice(words), kind)
        case "insert":
            tokens.insert(k, (gap, f"{rng.choice(words)} ", kind))


def mutant(text: str, rng: random.Random) -> str:
    """The text after one to three random edits of its tokens; five of six times one that Python can parse."""
    any_will_do, result = rng.random() < 1 / 6, ""
    for _ in range(DRAWS):
        tokens = pieces(text)
        for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
            _edited(tokens, rng)
        result = "".join(gap + word for gap, word, _ in tokens)
        try:
            ast.parse(result)
        except (SyntaxError, ValueError):
            if not any_will_do:
                continue
        break
    return result
