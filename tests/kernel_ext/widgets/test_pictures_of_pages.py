"""Pictures that a page makes of its arrays: the same as Python makes them."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest

import workbench as wb
from kernel_ext.views.arrays.array_view import MAPS, array_view, unpacked
from kernel_ext.views.arrays.points_view import points_view
from kernel_ext.views.view_data import as_json
from kernel_ext.widgets.modules import script_text

CASES = {
    "line": np.array([1.5, np.nan, -2.0, 0.25], np.float32),
    "long line": np.sin(np.arange(5000, dtype=np.float32)),
    "image": np.where(np.arange(1200).reshape(30, 40) % 7 == 0, np.inf, np.arange(1200.0).reshape(30, 40)),
    "reduced": np.random.default_rng(1).normal(size=(300, 20)).astype(np.float32),
    "integers": np.arange(-4, 5, dtype=np.int64),
    "components": wb.array(np.random.default_rng(1).normal(size=(9, 2)).astype(np.float32), dtype=wb.vec2),
    "colours": wb.array(np.random.default_rng(1).random((20, 30, 3), np.float32), dtype=wb.vec3),
    "complex line": np.array([1 + 2j, np.nan, -0.5j]),
    "phases": np.exp(np.linspace(-3, 3, 70)[:, None] * (1 + 1j) + np.linspace(0, 9, 40) * 1j),
    "slice": np.arange(60.0).reshape(3, 4, 5),
}


@pytest.mark.slow
@pytest.mark.browser
def test_a_picture_of_the_page_is_that_of_python(chromium: Any) -> None:
    page = chromium.new_page()
    page.add_script_tag(content=script_text("array_picture"))
    for name, value in CASES.items():
        at = (2,) if name == "slice" else ()
        want = as_json(array_view(value, "a", at))
        host = value.numpy() if isinstance(value, wb.array) else value
        host = host if host.dtype.kind == "c" else host.astype(np.float64)
        numbers = [str(v) for v in host.reshape(-1).view(np.float64).tolist()]
        code = """([first, numbers, maps]) => {
          const made = pictureAgain(first, numbers.map((v) => Number(v.replace("inf", "Infinity"))),
            { maps, fixed: false, grows: false, colours: "" });
          const plain = (part) => ({ ...part, low: Array.from(part.low, String), high: Array.from(part.high, String) });
          return { ...made, parts: made.parts.map(plain) };
        }"""
        emptied = {**want, "parts": [{**part, "low": "", "high": "", "bad": []} for part in want["parts"]]}
        got = page.evaluate(code, [emptied, numbers, {k: [list(c) for c in v] for k, v in MAPS.items()}])
        for ours, theirs in zip(got.pop("parts"), want.pop("parts"), strict=True):
            for key in ("low", "high"):
                mine = np.array([float(v.replace("Infinity", "inf")) for v in ours.pop(key)])
                packed = theirs.pop(key)
                data = base64.b64decode(packed)
                read = np.frombuffer(data, np.uint8) if ours["kind"] == "rgb" and key == "low" else unpacked(data)
                np.testing.assert_allclose(mine, read, rtol=1e-6, err_msg=name)
            assert ours == json.loads(json.dumps(theirs)), name
        assert got == json.loads(json.dumps(want)), name
    page.close()


@pytest.mark.browser
def test_points_of_the_page_are_those_of_python(chromium: Any) -> None:
    page = chromium.new_page()
    page.add_script_tag(content=script_text("points_picture"))
    draw = np.random.default_rng(5)
    flat, deep = draw.normal(size=(40, 2)).astype(np.float32), draw.normal(size=(30, 3)).astype(np.float32)
    flat[7] = np.nan
    shades, rgb = draw.normal(size=40).astype(np.float32), draw.random((30, 3), np.float32)
    for value, colour, colours, ends, box in (
        (flat, shades, "", None, None),
        (flat, shades, "magma", (0.0, 1.0), ((-1, -1), (1, 1))),
        (deep, rgb, "", None, None),
        (deep, None, "", None, ((-3, -3, -3), (3, 3, 3))),
    ):
        want = as_json(points_view(value, "p", colour, colours, ends, 3.0, box))
        look = {"maps": MAPS, "fixed": ends is not None, "boxed": box is not None, "colours": colours}
        code = """([first, values, shades, look]) => {
          const number = (v) => Number(v);
          const made = pointsAgain(first, values.map(number), shades?.map(number), look);
          const bytes = (v) => typeof v === "string" ? v : btoa(String.fromCharCode(...v));
          return { ...made, places: bytes(made.places), colours: bytes(made.colours) };
        }"""
        given = [None if a is None else [str(v) for v in a.reshape(-1).tolist()] for a in (value, colour)]
        got = page.evaluate(code, [{**want, "places": ""}, given[0], given[1], look])
        for key, size, apart in (("places", "<u2", 0), ("colours", np.uint8, 1)):
            ours, theirs = (np.frombuffer(base64.b64decode(d.pop(key)), size).astype(int) for d in (got, want))
            assert ours.shape == theirs.shape and np.abs(ours - theirs).max() <= apart, key
        assert got == json.loads(json.dumps(want))
    page.close()
