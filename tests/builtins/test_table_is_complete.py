"""Every declaration says all that a reader, a backend and autodiff need."""

from __future__ import annotations

import pytest

from tests.support.kernels.builtin_cases import accepted
from workbench.builtins import FORMS, TABLE
from workbench.types import Kind, Vector, element, is_float

NAMES = sorted(TABLE)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_documented(name: str) -> None:
    assert TABLE[name].doc.endswith(".") or "." in TABLE[name].doc


@pytest.mark.parametrize("name", sorted(FORMS))
def test_forms_are_documented(name: str) -> None:
    assert FORMS[name].doc and FORMS[name].signature.startswith((f"{name}(", f"{name}["))


@pytest.mark.parametrize("name", NAMES)
def test_the_rule_accepts_something_and_gives_an_operand_for_each_parameter(name: str) -> None:
    signatures = accepted(TABLE[name])
    assert signatures
    assert all(len(operands) == len(TABLE[name].params) for operands, _ in signatures)


@pytest.mark.parametrize("name", NAMES)
def test_both_compilers_can_spell_it_or_it_expands(name: str) -> None:
    entry = TABLE[name]
    assert entry.cuda or entry.expand
    assert entry.llvm or entry.expand


@pytest.mark.parametrize("name", NAMES)
def test_its_llvm_spelling_covers_every_kind_that_the_rule_accepts(name: str) -> None:
    entry = TABLE[name]
    if entry.expand is not None or entry.llvm is None:
        return
    kinds = {element(operands[-1]).kind for operands, _ in accepted(entry)}
    covered = set(entry.llvm) if not isinstance(entry.llvm, str) else {"float"}
    assert {k.value for k in kinds} <= covered


@pytest.mark.parametrize("name", NAMES)
def test_it_has_a_gradient_or_a_reason(name: str) -> None:
    entry = TABLE[name]
    assert bool(entry.gradient) != bool(entry.differentiable)
    if entry.differentiable:
        assert entry.differentiable.startswith("no: ")
        assert not any(is_float(result) and is_float(operands[0]) for operands, result in accepted(entry))


@pytest.mark.parametrize("name", NAMES)
def test_a_differentiable_builtin_states_the_domain_of_each_operand(name: str) -> None:
    entry = TABLE[name]
    if entry.gradient is not None:
        assert len(entry.domain) == len(entry.params)
        assert all(low < high for low, high in entry.domain)


@pytest.mark.parametrize("name", NAMES)
def test_an_elementwise_builtin_accepts_vectors_of_what_it_accepts_or_only_scalars(name: str) -> None:
    entry = TABLE[name]
    if not entry.elementwise:
        return
    for operands, result in accepted(entry):
        if element(result).kind is Kind.BOOL:
            continue
        wide = [t if p == "condition" else Vector(3, element(t)) for p, t in zip(entry.params, operands, strict=True)]
        assert entry.rule(name, wide) == (tuple(wide), Vector(3, element(result)))
