# ruff: noqa: B018  (marimo shows a cell's last line)
"""A marimo notebook of values and views on cells' last lines, which has no magics.

`test_marimo.py` exports it, and `tests/browser/test_marimo_in_browser.py` opens it.
"""

import marimo

app = marimo.App()


@app.cell
def _():
    import workbench as wb
    from kernel_ext import show

    return show, wb


@app.cell
def _(beta, wb):
    @wb.kernel
    def ramp(x: wb.array[float], slope: float):
        i = wb.tid()
        x[i] = beta * slope * float(i)

    ramp
    return (ramp,)


@app.cell
def _(show):
    beta = show.slider(0.0, 2.0, 1.0)
    beta
    return (beta,)


@app.cell
def _(ramp, wb):
    x = wb.zeros(64)
    with wb.record(inputs=True) as rec:
        wb.launch(ramp, 64, inputs=[x, 2.0])
    x
    return rec, x


@app.cell
def _(rec):
    rec
    return


@app.cell
def _(show, x):
    show.array(x, "ramp").widget
    return


@app.cell
def _(show, x):
    show.animate(lambda: None, watch=x, frames=3)
    return


@app.cell
def _(ramp, show):
    show.source(ramp, ("source", "cuda"))
    return


@app.cell
def _(wb):
    @wb.struct
    class Body:
        place: wb.vec3
        mass: float

    bodies = wb.zeros(3, dtype=Body)
    bodies
    return


@app.cell
def _(x):
    print("sum", x.numpy().sum())
    return
