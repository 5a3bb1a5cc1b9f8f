"""Statements that compute r from v: what the front end must mean as Python means it."""

from __future__ import annotations

import textwrap

INTEGERS = {
    "floor division and remainder": """
        r = v // 3 * 100 + v % 3 + v // -2 + v % -4
    """,
    "shifts and bits": """
        r = ((v & 5) | (v ^ 3)) + (~v >> 1) + (3 << (v & 3))
    """,
    "powers of ints": """
        r = v ** 3 - v ** 2 + v ** 0
    """,
    "chained comparison": """
        r = 1 if -2 < v <= 3 != v else 0
    """,
    "boolean operators": """
        r = 1 if v > 2 and v < 5 or not v > -5 else 0
    """,
    "else of if": """
        if v < -2:
            r = 1
        elif v < 2:
            r = 2
        else:
            r = 3
    """,
    "names swapped": """
        a, b = v, 2 * v
        a, b = b, a
        r = a - b
    """,
    "chained assignment": """
        a = b = v + 1
        r = a * b
    """,
    "sum over range": """
        r = 0
        for q in range(5):
            r += q * v
    """,
    "range with bounds": """
        r = 0
        for q in range(v, 4):
            r += q
    """,
    "range downwards": """
        r = 0
        for q in range(6, v, -2):
            r = r * 2 + q
    """,
    "empty range": """
        r = 5
        for q in range(3, 3):
            r = q
    """,
    "nested loops": """
        r = 0
        for p in range(3):
            for q in range(p, 4):
                r = r * 3 + p * q - v
    """,
    "while": """
        r = 0
        n = abs(v)
        while n > 0:
            r += n
            n -= 2
    """,
    "while with branch": """
        r = 1
        n = 20
        while n != 1 and r < 50:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            r += 1
    """,
    "break": """
        r = 0
        for q in range(100):
            if q * q > v + 7:
                break
            r += q
    """,
    "break of a short range": """
        r = 0
        for q in range(9):
            if q > v:
                break
            r += q
    """,
    "continue": """
        r = 0
        for q in range(12):
            if q % 3 == v % 3:
                continue
            r = r * 2 + q
    """,
    "break and continue": """
        r = 0
        for q in range(40, v, -1):
            if q % 2:
                continue
            if q < 10:
                break
            r += q
        r += 1
    """,
    "exit in a branch that may go on": """
        r = 0
        for q in range(50):
            if q > 5:
                if q > v + 8:
                    break
                r += 1
            r += q
        r = r * 2
    """,
    "skip in a branch that may go on": """
        r = 0
        for q in range(50):
            if q > 5:
                if q % 3 == 0:
                    continue
                r += 1
            else:
                r += v
            r += q
    """,
    "break both ways": """
        r = 0
        while True:
            r += 1
            if r > v + 9:
                r += 100
                break
            elif r == 5:
                break
            r += 1
    """,
    "while left early": """
        r = 0
        n = 50
        while n > 0:
            n -= 3
            if n == v + 20:
                break
            r += n
    """,
    "else of for": """
        r = 0
        for q in range(5):
            if q == v:
                break
            r += q
        else:
            r += 1000
    """,
    "else of for over a long range": """
        r = 0
        for q in range(70):
            if q == v:
                break
        else:
            r = 7
    """,
    "else of while": """
        r = 3
        while r < 9:
            r += 2
            if r == v:
                break
        else:
            r = -r
    """,
    "else without break": """
        r = 0
        for q in range(3):
            r += q
        else:
            r += v
    """,
    "break of the inner loop": """
        r = 0
        for p in range(6):
            for q in range(60):
                if q > p + v:
                    break
                r += 1
            else:
                r += 1000
            if r > 99:
                break
    """,
    "loop with swap": """
        a = 0
        r = 1
        for q in range(abs(v)):
            a, r = r, a + r
    """,
}
FLOATS = {
    "name changes its type": """
        a = 3
        a = a * 0.5
        r = a + v
    """,
    "weak literal in a loop": """
        s = 0
        for q in range(4):
            s += v * q
        r = s
    """,
    "weak literal in a branch": """
        s = 0
        if v > 0:
            s = v
        r = s
    """,
    "weak literal in nested loops": """
        s = 0
        for p in range(3):
            for q in range(4):
                s += v * q
        r = s
    """,
    "weak literal in a branch of a loop": """
        s = 0.0
        for p in range(3):
            if v > p - 1:
                s += v
        r = s
    """,
    "weak literal in a while in a loop": """
        s = 1
        for p in range(3):
            n = 2
            while n > 0:
                s = s * 0.5 + v
                n -= 1
        r = s
    """,
    "weak literals of two branches": """
        s = 0
        t = 1
        for p in range(4):
            if v < 0:
                s += 1
            else:
                s = s + v
                t = s
        r = s + t
    """,
    "weak literal that a rule makes a float": """
        s = 1
        for p in range(3):
            s = sqrt(s + v * v)
        r = s
    """,
    "weak literal stored": """
        s = 0.0
        for p in range(3):
            s += 0.1
            y[i] = s
        r = s + v
    """,
    "true division of ints": """
        r = 7 / 2 + v
    """,
    "unary": """
        r = -v + (+v) * 2
    """,
    "conditional expression": """
        r = 1 / v if v != 0 else 5
    """,
    "min and max of three": """
        r = min(v, 1, 0.5) + max(v, -1, 0.25)
    """,
    "negative whole power": """
        r = (v * v + 1) ** -2
    """,
    "annotated": """
        a: float64 = 2
        r = a * v
    """,
    "early value in both branches": """
        if v < 0:
            a = -v
            b = 1.0
        else:
            a = v
            b = 2.0
        r = a * b
    """,
}
BODIES = {name: ("int", textwrap.dedent(text).strip()) for name, text in INTEGERS.items()}
BODIES |= {name: ("float", textwrap.dedent(text).strip()) for name, text in FLOATS.items()}
