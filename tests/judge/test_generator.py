"""Programs by chance: the same for a seed everywhere, and every row of the language's table is among them."""

from __future__ import annotations

import ast
import hashlib
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.judge.generator import Draft, draft, rows
from tests.judge.generator.memory import COMBINATIONS, LVALUES

SEEDS = range(400)
"""So many programs in a row have every row of the table."""
ROOT = Path(__file__).parents[2]


@cache
def program(seed: int) -> Draft:
    return draft(seed)


def digest(seeds: range) -> str:
    return hashlib.sha256("".join(draft(seed).text for seed in seeds).encode()).hexdigest()


@pytest.mark.parametrize("hash_seed", ["0", "1", "77"])
def test_a_seed_is_the_same_text_in_any_process(hash_seed: str) -> None:
    code = "from tests.judge.test_generator import digest; print(digest(range(60)))"
    env = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
    out = subprocess.run([sys.executable, "-c", code], env=env, cwd=ROOT, capture_output=True, text=True, check=True)
    assert out.stdout.strip() == digest(range(60))


def test_every_row_of_the_language_is_drawn() -> None:
    assert len(rows()) > 90
    assert rows() - {name for seed in SEEDS for name in program(seed).rows} == set()


def test_every_lvalue_meets_every_operator() -> None:
    drawn = {name for seed in SEEDS for name in program(seed).rows}
    assert {lvalue.name for lvalue in LVALUES} <= drawn
    assert {f"augmented {sign}" for _, sign, _ in COMBINATIONS if sign != "="} <= drawn


def test_every_type_of_element_is_in_some_array() -> None:
    scalars = {a.kind.scalar for seed in SEEDS for a in program(seed).arrays.values()}
    assert scalars >= {"bool", "float16", "bfloat16", "float32", "float64"} | {
        f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
    }
    assert {len(a.shape) for seed in SEEDS for a in program(seed).arrays.values()} == {1, 2, 3, 4}


@pytest.mark.parametrize("profile", ["exact", "maths", "smooth"])
def test_each_text_is_python(profile: str) -> None:
    for seed in range(60):
        tree = ast.parse(draft(seed, profile).text)
        assert [n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)].count("k") == 1


def test_only_the_thread_itself_writes_its_elements() -> None:
    """A store into an array that others read would be a race."""
    for seed in SEEDS:
        roles = {name: a.role for name, a in program(seed).arrays.items()}
        for node in ast.walk(ast.parse(program(seed).text)):
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
                assert roles.get(node.value.id, "own") in ("own", "sum"), (seed, ast.unparse(node))


def test_programs_are_not_longer_than_a_user_would_write() -> None:
    lengths = sorted(len(program(seed).text.splitlines()) for seed in SEEDS)
    assert lengths[len(lengths) // 2] < 70
    assert lengths[-1] < 250
