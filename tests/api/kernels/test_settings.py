"""Settings from the environment: one that makes no sense is named once, and stops nothing."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import workbench as wb
from workbench import config


@wb.kernel
def double(x: wb.array[float]):
    x[wb.tid()] *= 2.0


WRONG = {
    "WORKBENCH_CACHE_LIMIT": ("abc", "takes a whole number of bytes. 1073741824 is used", "cache_limit"),
    "WORKBENCH_THREADS": ("-2", r"takes a whole number from 1. \d+ is used", "threads"),
    "WORKBENCH_MATMUL": ("cuda", "takes auto, generated, cublasdx. auto is used", "matmul"),
    "WORKBENCH_CPU": ("x86_64", "takes native, .* native is used", "cpu"),  # LLVM would end the process
}


@pytest.mark.parametrize("name", WRONG)
def test_a_setting_that_makes_no_sense(name: str, monkeypatch: Any) -> None:
    value, message, field = WRONG[name]
    monkeypatch.setattr(config, "_WARNED", set())
    monkeypatch.delenv(name, raising=False)
    default = getattr(config.settings(), field)
    monkeypatch.setenv(name, value)
    with pytest.warns(UserWarning, match=f"variable {name} is '{value}'; it {message}"):
        assert getattr(config.settings(), field) == default
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = wb.ones(3)
        wb.launch(double, 3, [x])
    assert x.numpy().tolist() == [2, 2, 2]


def test_settings_that_do(monkeypatch: Any) -> None:
    for name, value in {"CACHE_LIMIT": "1000", "THREADS": "3", "MATMUL": "generated", "CPU": ""}.items():
        monkeypatch.setenv(f"WORKBENCH_{name}", value)
    found = config.settings()
    assert (found.cache_limit, found.threads, found.matmul, found.cpu) == (1000, 3, "generated", "native")
