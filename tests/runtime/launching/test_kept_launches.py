"""Launches kept with `record_cmd=True`: what can be changed, what is refused, and who sees them run."""

from __future__ import annotations

import pytest

import workbench as wb


@wb.kernel
def scale(factor: float, source: wb.array(dtype=float), target: wb.array(dtype=float)):
    i = wb.tid()
    target[i] = factor * source[i]


def arrays() -> tuple[wb.array, wb.array]:
    return wb.array([1.0, 2.0, 3.0], requires_grad=True), wb.zeros(3, requires_grad=True)


def kept(adjoint: bool = False, dim: int = 3) -> tuple[wb.Launch, wb.array, wb.array]:
    x, y = arrays()
    made = wb.launch(scale, dim, inputs=[2.0, x], outputs=[y], adjoint=adjoint, record_cmd=True)
    assert made is not None
    return made, x, y


def test_an_unknown_parameter_is_refused_with_the_nearest_name() -> None:
    launch, _, _ = kept()
    with pytest.raises(wb.LaunchError, match=r"no parameter facter; .*Did you mean factor"):
        launch.set_param_by_name("facter", 1.0)
    with pytest.raises(wb.LaunchError, match="not an adjoint launch"):
        launch.set_param_by_name("source", wb.zeros(3), adjoint=True)


def test_adjoint_arrays_are_set_by_their_own_name_or_by_the_parameter() -> None:
    launch, _, y = kept(adjoint=True)
    other = wb.zeros(3)
    launch.set_param_by_name("source", other, adjoint=True)
    assert launch.params["adj_source"] is other
    launch.set_param_at_index(1, wb.zeros(3), adjoint=True)
    assert launch.params["adj_source"] is not other
    launch.set_param_by_name("adj_source", other)
    assert y.grad is not None
    y.grad.fill_(1.0)
    launch.launch()
    assert other.numpy().tolist() == [2, 2, 2]


def test_a_strided_view_gets_code_that_reads_strides() -> None:
    launch, _, y = kept()
    wide = wb.array([1.0, 9.0, 2.0, 9.0, 3.0, 9.0])
    launch.set_param_by_name("source", wide[::2])
    launch.launch()
    assert y.numpy().tolist() == [2, 4, 6]
    x, z = arrays()
    with wb.record() as rec:
        wb.launch(scale, 3, inputs=[2.0, x], outputs=[z])
    rec.replay(source=wide[::2])
    assert z.numpy().tolist() == [2, 4, 6]


def test_zero_threads_keep_a_launch_that_can_grow() -> None:
    launch, _, y = kept(dim=0)
    launch.launch()
    assert y.numpy().tolist() == [0, 0, 0]
    launch.set_dim(2)
    launch.launch()
    assert y.numpy().tolist() == [2, 4, 0] and launch.dim == (2,)


def test_the_cpu_has_no_streams_and_blocks_have_limits() -> None:
    launch, x, y = kept()
    for wrong in (
        lambda: launch.set_stream(object()),
        lambda: launch.launch(stream=object()),
        lambda: wb.launch(scale, 3, inputs=[1.0, x], outputs=[y], stream=object()),
        lambda: wb.launch(scale, 3, inputs=[1.0, x], outputs=[y], block_dim=0),
        lambda: wb.launch(scale, 3, inputs=[1.0, x], outputs=[y], block_dim=2048),
    ):
        with pytest.raises(wb.LaunchError):
            wrong()
    launch.set_stream(None)
    wb.launch(scale, 3, inputs=[1.0, x], outputs=[y], block_dim=64)
    assert y.numpy().tolist() == [1, 2, 3]


def test_a_kept_launch_is_seen_by_tapes_and_recorders_when_it_runs() -> None:
    launch, x, y = kept()
    with wb.Tape() as tape, wb.record() as rec:
        launch.launch()
    assert [e.row()[1] for e in rec] == ["scale"]
    tape.backward(grads={y: wb.ones(3)})
    assert x.grad is not None and x.grad.numpy().tolist() == [2, 2, 2]


def test_it_says_what_it_runs() -> None:
    launch, _, _ = kept(adjoint=True)
    assert "adjoint launch scale[3] on cpu: factor=2.0, source=array[float32](3,)" in repr(launch)
