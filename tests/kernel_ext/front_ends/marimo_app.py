"""A marimo notebook that uses the plain functions; `test_marimo.py` exports it. Magics are not needed."""

import marimo

app = marimo.App()


@app.cell
def _():
    import workbench as wb
    from kernel_ext import show

    return show, wb


@app.cell
def _(wb):
    @wb.kernel
    def ramp(x: wb.array[float], slope: float):
        i = wb.tid()
        x[i] = slope * float(i)

    return (ramp,)


@app.cell
def _(ramp, wb):
    x = wb.zeros(64)
    with wb.record(inputs=True) as rec:
        wb.launch(ramp, 64, inputs=[x, 2.0])
    x  # noqa: B018  # the cell shows it
    return rec, x


@app.cell
def _(show, x):
    show.array(x, "ramp").widget  # noqa: B018
    return


@app.cell
def _(show, x):
    show.array(x, "ramp")
    return


@app.cell
def _(rec, show):
    show.timeline(rec)
    return


@app.cell
def _(ramp, show):
    show.source(ramp, ("source", "cuda"))
    return


@app.cell
def _(x):
    print("sum", x.numpy().sum())
    return
