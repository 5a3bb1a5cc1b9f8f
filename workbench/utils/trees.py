"""The construction of a `Bvh`: boxes in Morton order are joined bottom-up, each with its nearest neighbour.

(Meister and Bittner, "Parallel Locally-Ordered Clustering for Bounding Volume Hierarchy Construction", 2018.) In a
round every cluster looks for the one within `REACH` positions with which it makes the smallest box; those that chose
each other become one. A tie is broken by the exclusive or of the positions, which is the same from both sides: so there
always is a pair, and among equal boxes half of them pair at once. When `FEW` are left, one thread goes on alone.

Nodes are numbered in the order in which they come to be; item k has the name -1 - k. From the root down, each node is
then assigned its position in depth-first order. A node of at most `leaf_size` items is one leaf.
"""

# The bodies of kernels are read by our compiler.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportInvalidTypeForm=false, reportCallIssue=false

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.api.kernels.func import func
from workbench.api.kernels.kernel import kernel
from workbench.api.launches.launch import launch
from workbench.builtins import FORMS
from workbench.builtins.geometry.trees import NODE, VEC3, greater, lesser
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import empty, full
from workbench.types import float32, int32, int64, uint32
from workbench.utils.scan import array_scan
from workbench.utils.sort import QUIET, sorted_by_bits

tid, atomic_min, atomic_max = FORMS["tid"], FORMS["atomic_min"], FORMS["atomic_max"]
REACH = 8
FEW = 512
ROUNDS = 64
"""From then on neighbours pair without a choice: so a tree is less than 64 + 31 deep, and searches have room for 96."""
HUGE = 1.0e18
INF = float("inf")
FAR = 1.0e17
"""Boxes end here while a tree is built, so that areas are finite; nodes that reach so far are unbounded there."""
box2d = array(dtype=float32, ndim=2)


class Tree:
    """Represents a tree of boxes: its nodes, and the rounds that built it, by which `refit` goes from leaves to root.

    Attributes:
        nodes: in depth-first order (`builtins/geometry/trees.py`).
        items: the numbers of the boxes in the order of leaves.
        rounds: the number of the first inner node that each round made, and the end.
        positions: the index in `nodes` of each inner node, int32; -1 of one inside a leaf.
    """

    def __init__(self, lowers: array, uppers: array, leaf_size: int) -> None:
        """Build the tree of the boxes between these corners, two arrays of vec3, on their device.

        A leaf has at most `leaf_size` boxes.
        """
        n, device = lowers.size, lowers.device
        self._quiet: dict[str, Any] = {"device": device, **QUIET}
        self.items, self.nodes, self.rounds = empty(n, int32, device), empty(min(n, 1), NODE, device), [0]
        self.positions = empty(0, int32, device)
        if n == 0:
            return
        codes, order = empty(n, uint32, device), empty(n, int32, device)
        bounds = full(6, 3.0e38, float32, device)
        launch(_bounds, n, [lowers, uppers], [bounds], **self._quiet)
        launch(_codes, n, [lowers, uppers, bounds], [codes, order], **self._quiet)
        _, order = sorted_by_bits(codes, order, 0, 30)
        shape = [empty(n, NODE, device), empty(n, int32, device), empty(n, int32, device)]
        self.positions, first = self._cluster(lowers, uppers, order, leaf_size, shape)
        if n > 1:
            self.nodes = empty(int(shape[2][n - 2 : n - 1].numpy()[0]), NODE, device)
        inputs, results = [lowers, uppers, order], [self.positions, first, self.items, self.nodes]
        launch(_root, 1, [n, *inputs], results, **self._quiet)
        for start, threads, each in reversed(self._steps()):
            launch(_settle, threads, [*inputs, *shape, leaf_size, start, each], results, **self._quiet)

    def _steps(self) -> list[tuple[int, int, int]]:
        """Return (first node, threads, nodes per thread) of each launch over the rounds; one thread does the last."""
        parallel = [(a, b - a, 1) for a, b in zip(self.rounds, self.rounds[1:-1], strict=False)]
        return [*parallel, (self.rounds[-2], 1, self.rounds[-1] - self.rounds[-2])] if self.rounds[1:] else []

    def _cluster(
        self, lowers: array, uppers: array, order: array, leaf_size: int, shape: list[array]
    ) -> tuple[array, array]:
        """Build the tree by merging nearest clusters; append the rounds to `rounds`.

        Args:
            lowers, uppers: the corners of the items' boxes.
            order: the items in Morton order.
            leaf_size: the most items of a leaf.
            shape: three arrays for what is known of each inner node: children and box, count of items, count of nodes.

        Returns:
            Two int32 arrays as long as `order`, for the caller to overwrite.
        """
        items, device, quiet = order.size, order.device, self._quiet
        width = items + 2 * REACH
        boxes, names = empty((6, width), float32, device), empty(items, int32, device)
        others, other_names = empty((6, width), float32, device), empty(items, int32, device)
        near, steps = empty(items, int32, device), empty(items, int64, device)
        launch(_leaves, width, [lowers, uppers, order], [boxes, names], **quiet)
        n = items
        while n > FEW:
            launch(_nearest, n, [boxes, len(self.rounds), n], [near], **quiet)
            launch(_pairs, n, [near], [steps], **quiet)
            array_scan(steps[:n], out=steps[:n])
            last = int(steps[n - 1 : n].numpy()[0])
            inputs = [boxes, names, near, steps, self.rounds[-1], leaf_size]
            launch(_join, n, inputs, [others, other_names, *shape], **quiet)
            boxes, others, names, other_names = others, boxes, other_names, names
            self.rounds.append(self.rounds[-1] + (last >> 32))
            n = last & 0xFFFFFFFF
            launch(_pad, 2 * REACH, [n], [boxes], **quiet)
        if n > 1:
            launch(_finish, 1, [n, self.rounds[-1], leaf_size, len(self.rounds)], [boxes, names, near, *shape], **quiet)
            self.rounds.append(items - 1)
        return near, other_names

    def refit(self, lowers: array, uppers: array) -> None:
        """Recompute the boxes of all nodes from those of the items, from the leaves up."""
        inputs = [lowers, uppers, self.items, self.positions]
        if self.items.size == 1:
            launch(_fit_item, 1, inputs[:3], [self.nodes], **self._quiet)
        for start, threads, each in self._steps():
            launch(_fit, threads, [*inputs, start, each], [self.nodes], **self._quiet)


def grouped(lowers: array, uppers: array, leaf_size: int, groups: array) -> tuple[array, array, array]:
    """Build a tree of each group of boxes, and join them to one.

    Args:
        lowers, uppers: the corners of the boxes.
        leaf_size: the most items of a leaf.
        groups: the number of each box's group.

    Returns:
        The nodes and the items, as in `Tree`, and a row for each group: its number, and its root in the nodes.
    """
    numbers, device = groups.numpy(), groups.device
    order = np.argsort(numbers, kind="stable")
    names, starts = np.unique(numbers[order], return_index=True)
    parts, items, roots = list[Any](), list[Any](), list[int]()
    for start, members in zip(starts, np.split(order, starts[1:]), strict=True):
        boxes = [array(corners.numpy()[members], dtype=VEC3, device=device) for corners in (lowers, uppers)]
        tree = Tree(*boxes, leaf_size)
        nodes = tree.nodes.numpy().copy()
        nodes["right"] -= np.where(nodes["right"] < 0, np.int32(start), 0)
        parts.append(nodes)
        items.append(members[tree.items.numpy()])
    nodes = array(_joined(parts, 0, roots), dtype=NODE, device=device)
    rows = np.stack([names, roots], axis=1).astype(np.int32)
    return nodes, array(np.concatenate(items).astype(np.int32), device=device), array(rows, device=device)


def _joined(trees: list[Any], at: int, roots: list[int]) -> Any:
    """Return the nodes of several trees below new inner nodes, as one tree whose first node has the number `at`.

    The trees are changed in place, and the number of each one's root is appended to `roots`, in their order.
    """
    if len(trees) == 1:
        (nodes,) = trees
        inner = nodes["right"] >= 0
        for name in ("right", "skip"):
            nodes[name][inner] += at
        roots.append(at)
        return nodes
    half = len(trees) // 2
    left = _joined(trees[:half], at + 1, roots)
    second = at + 1 + len(left)
    right = _joined(trees[half:], second, roots)
    top = np.zeros_like(left[:1])
    top["lower"], top["upper"] = (
        np.fmin(left["lower"][0], right["lower"][0]),
        np.fmax(left["upper"][0], right["upper"][0]),
    )
    top["right"], top["skip"] = second, second + len(right)
    return np.concatenate([top, left, right])


@func
def _finite(lower: VEC3, upper: VEC3):
    """Return the part of a box within `FAR` of the origin; an axis with NaN is empty: from `FAR` to -`FAR`."""
    for axis in range(3):
        lower[axis] = greater(lesser(lower[axis], FAR), -FAR)
        upper[axis] = lesser(greater(upper[axis], -FAR), FAR)
    return lower, upper


@kernel
def _bounds(lowers: array[VEC3], uppers: array[VEC3], bounds: array[float32]):
    """Compute the box around the centers of all boxes into six numbers: its lower corner, its upper one negated."""
    i = tid()
    lower, upper = _finite(lowers[i], uppers[i])
    middle = 0.5 * (lower + upper)
    for k in range(3):
        atomic_min(bounds, k, middle[k])
        atomic_min(bounds, k + 3, -middle[k])


@func
def _spread(x: uint32):
    """Return the ten lowest bits of x with two zero bits between each."""
    x = (x ^ (x << uint32(16))) & uint32(0xFF0000FF)
    x = (x ^ (x << uint32(8))) & uint32(0x0300F00F)
    x = (x ^ (x << uint32(4))) & uint32(0x030C30C3)
    return (x ^ (x << uint32(2))) & uint32(0x09249249)


@kernel
def _codes(lowers: array[VEC3], uppers: array[VEC3], bounds: array[float32], codes: array[uint32], order: array[int32]):
    """Compute the Morton code of each box: the interleaved bits of its center's coordinates, ten each."""
    i = tid()
    lower, upper = _finite(lowers[i], uppers[i])
    middle = 0.5 * (lower + upper)
    code = uint32(0)
    for k in range(3):
        width = max(-bounds[k + 3] - bounds[k], 1.0e-30)
        cell = min(max((middle[k] - bounds[k]) / width * 1024.0, 0.0), 1023.0)
        code = code | (_spread(uint32(int(cell))) << uint32(k))
    codes[i] = code
    order[i] = i


@kernel
def _leaves(lowers: array[VEC3], uppers: array[VEC3], order: array[int32], boxes: box2d, names: array[int32]):
    """Write one cluster per item; pad both ends with boxes so large that none is ever the nearest."""
    i = tid()
    n = order.shape[0]
    k = i - REACH
    if k >= 0 and k < n:
        j = order[k]
        lower, upper = _finite(lowers[j], uppers[j])
        _put(lower, upper, k, boxes)
        names[k] = -1 - k
    else:
        _put(VEC3(-HUGE), VEC3(HUGE), k, boxes)


@kernel
def _pad(n: int, boxes: box2d):
    """Write the padding boxes before and after n clusters."""
    i = tid()
    _put(VEC3(-HUGE), VEC3(HUGE), i - REACH if i < REACH else i - REACH + n, boxes)


@func
def _chosen(boxes: box2d, i: int):
    """Return the cluster within REACH of cluster i whose box with it is smallest; ties break alike from both sides."""
    p = i + REACH
    best, nearest = float32(3.0e38), int32(0)
    for step in range(2 * REACH + 1):
        q = i + step
        x = greater(boxes[3, p], boxes[3, q]) - lesser(boxes[0, p], boxes[0, q])
        y = greater(boxes[4, p], boxes[4, q]) - lesser(boxes[1, p], boxes[1, q])
        z = greater(boxes[5, p], boxes[5, q]) - lesser(boxes[2, p], boxes[2, q])
        area = (x * y + y * z + z * x + 1.0e-30) * (1.0 + 1.0e-5 * float((p ^ q) & 31))
        area = area if step != REACH else 3.0e38
        nearest = q if area < best else nearest
        best = lesser(area, best)
    return nearest - REACH


@func
def _beside(i: int, n: int):
    """Return the neighbour that cluster i of n pairs with in late rounds: i ^ 1; an odd last one gets i - 1."""
    return i ^ 1 if (i ^ 1) < n else i - 1


@kernel
def _nearest(boxes: box2d, iteration: int, n: int, near: array[int32]):
    """Write the cluster that each one is to be joined with: the nearest one, in late iterations its neighbour."""
    i = tid()
    near[i] = _chosen(boxes, i) if iteration < ROUNDS else _beside(i, n)


@kernel
def _pairs(near: array[int32], steps: array[int64]):
    """Write how many clusters each one adds to the next round: 1 if it survives, 0 if it is the second of a pair.

    The first of a pair adds 2³² as well: a new node.
    """
    i = tid()
    j = near[i]
    if near[j] != i:
        steps[i] = int64(1)
    elif i < j:
        steps[i] = int64(4294967297)
    else:
        steps[i] = int64(0)


@func
def _number(counts: array[int32], name: int):
    """Return counts[name], of items or of nodes below an inner node; 1 for an item, whose name is negative."""
    return counts[name] if name >= 0 else 1


@func
def _named(node: int, a: int, b: int, leaf_size: int, parents: array[NODE], count: array[int32], size: array[int32]):
    """Record clusters a and b as the children of inner node `node`, with its counts; the caller writes its box.

    `count` is of items; `size` of nodes, 1 if the items fit into a leaf.
    """
    parents[node].skip = a
    parents[node].right = b
    items = _number(count, a) + _number(count, b)
    count[node] = items
    size[node] = _number(size, a) + _number(size, b) + 1 if items > leaf_size else 1


@func
def _merged(boxes: box2d, i: int, j: int):
    """Return the lower and the upper corner of the box around clusters i and j."""
    p, q = i + REACH, j + REACH
    lower, upper = VEC3(0.0), VEC3(0.0)
    for axis in range(3):
        lower[axis] = lesser(boxes[axis, p], boxes[axis, q])
        upper[axis] = greater(boxes[axis + 3, p], boxes[axis + 3, q])
    return lower, upper


@func
def _put(lower: VEC3, upper: VEC3, to: int, boxes: box2d):
    """Write a box to column `to` of the clusters' boxes, which have `REACH` columns of padding before them."""
    for axis in range(3):
        boxes[axis, to + REACH] = lower[axis]
        boxes[axis + 3, to + REACH] = upper[axis]


@kernel
def _join(
    boxes: box2d, names: array[int32], near: array[int32], steps: array[int64], first: int, leaf_size: int,
    others: box2d, other_names: array[int32], parents: array[NODE], count: array[int32], size: array[int32],
):  # fmt: skip
    """Write the clusters of the next round, and a node for each pair; `steps` are running sums of `_pairs`."""
    i = tid()
    j = near[i]
    mutual = near[j] == i
    if not (mutual and j < i):
        to = int(steps[i] & int64(0xFFFFFFFF)) - 1
        lower, upper = _merged(boxes, i, j if mutual else i)
        _put(lower, upper, to, others)
        name = names[i]
        if mutual:
            node = first + int(steps[i] >> int64(32)) - 1
            _named(node, name, names[j], leaf_size, parents, count, size)
            parents[node].lower = lower
            parents[node].upper = upper
            name = node
        other_names[to] = name


@kernel
def _finish(
    n: int, first: int, leaf_size: int, iteration: int, boxes: box2d, names: array[int32], near: array[int32],
    parents: array[NODE], count: array[int32], size: array[int32],
):  # fmt: skip
    """Join the last n clusters by pairs until one is left, on one thread, and write the inner nodes.

    Args:
        n: the clusters left.
        first: the first free node of `parents`.
        leaf_size: passed on to `_named`.
        iteration: rounds so far; from `ROUNDS` on, clusters pair by their order (`_beside`), not by boxes.
        boxes: of the clusters, followed by `REACH` that are no clusters.
        names: nodes of the clusters.
        near: scratch: whom each cluster chose.
        parents: the nodes, which it writes.
        count, size: written by `_named` for each join.
    """
    node = first + tid()
    while n > 1:
        for i in range(n):
            near[i] = _chosen(boxes, i) if iteration < ROUNDS else _beside(i, n)
        to = 0
        for i in range(n):
            j = near[i]
            mutual = near[j] == i
            if not (mutual and j < i):
                lower, upper = _merged(boxes, i, j if mutual else i)
                _put(lower, upper, to, boxes)
                name = names[i]
                if mutual:
                    _named(node, name, names[j], leaf_size, parents, count, size)
                    parents[node].lower = lower
                    parents[node].upper = upper
                    name = node
                    node += 1
                names[to] = name
                to += 1
        for k in range(REACH):
            _put(VEC3(-HUGE), VEC3(HUGE), to + k, boxes)
        n = to
        iteration += 1


@func
def _set(nodes: array[NODE], at: int, lower: VEC3, upper: VEC3, right: int, skip: int):
    """Write a node of the tree; bounds beyond `FAR` become infinite."""
    for axis in range(3):
        lower[axis] = -INF if lower[axis] <= -FAR else lesser(lower[axis], FAR)
        upper[axis] = INF if upper[axis] >= FAR else greater(upper[axis], -FAR)
    nodes[at].lower = lower
    nodes[at].upper = upper
    nodes[at].right = right
    nodes[at].skip = skip


@kernel
def _root(
    n: int, lowers: array[VEC3], uppers: array[VEC3], order: array[int32], positions: array[int32], first: array[int32],
    items: array[int32], nodes: array[NODE],
):  # fmt: skip
    """Assign the position of the root, which is the last node; of a single item, write its leaf."""
    if n > 1:
        positions[n - 2] = tid()
        first[n - 2] = 0
    else:
        _child(-1, 0, 0, lowers, uppers, order, positions, first, items, nodes)


@func
def _child(
    name: int, at: int, start: int, lowers: array[VEC3], uppers: array[VEC3], order: array[int32],
    positions: array[int32], first: array[int32], items: array[int32], nodes: array[NODE],
):  # fmt: skip
    """Assign the inner node `name` its position and its first item; an item its place in the order, and its leaf.

    Args:
        name: a node, or -1 - k for item k in Morton order.
        at: its position among the tree's nodes; negative within a leaf: no node is written.
        start: the position of its first item.
        lowers, uppers, order: the items' boxes, and the items in Morton order.
        positions, first, items, nodes: what is written.
    """
    if name >= 0:
        positions[name] = at
        first[name] = start
    else:
        item = order[-1 - name]
        items[start] = item
        if at >= 0:
            _set(nodes, at, lowers[item], uppers[item], -1 - start, 1)


@kernel
def _settle(
    lowers: array[VEC3], uppers: array[VEC3], order: array[int32], parents: array[NODE], count: array[int32],
    size: array[int32], leaf_size: int, start: int, each: int, positions: array[int32], first: array[int32],
    items: array[int32], nodes: array[NODE],
):  # fmt: skip
    """Write nodes at their positions, and assign those of their children; a thread begins with its last node."""
    for k in range(each):
        i = start + tid() * each + each - 1 - k
        at, begin, a, b = positions[i], first[i], parents[i].skip, parents[i].right
        inner = at >= 0 and count[i] > leaf_size
        second = at + 1 + _number(size, a)
        if inner:
            _set(nodes, at, parents[i].lower, parents[i].upper, second, at + size[i])
        elif at >= 0:
            _set(nodes, at, parents[i].lower, parents[i].upper, -1 - begin, count[i])
        middle = begin + _number(count, a)
        _child(a, at + 1 if inner else -1, begin, lowers, uppers, order, positions, first, items, nodes)
        _child(b, second if inner else -1, middle, lowers, uppers, order, positions, first, items, nodes)


@func
def _fit_leaf(lowers: array[VEC3], uppers: array[VEC3], items: array[int32], at: int, nodes: array[NODE]):
    """Set the box of a leaf to that around its items."""
    begin = -1 - nodes[at].right
    lower, upper = VEC3(INF), VEC3(-INF)
    for k in range(begin, begin + nodes[at].skip):
        low, high = lowers[items[k]], uppers[items[k]]
        for axis in range(3):  # the item comes first: a comparison with NaN yields the second
            lower[axis] = lesser(low[axis], lower[axis])
            upper[axis] = greater(high[axis], upper[axis])
    nodes[at].lower = lower
    nodes[at].upper = upper


@kernel
def _fit_item(lowers: array[VEC3], uppers: array[VEC3], items: array[int32], nodes: array[NODE]):
    """Write the box of the only item into the tree's only leaf, in one thread."""
    _fit_leaf(lowers, uppers, items, tid(), nodes)


@kernel
def _fit(
    lowers: array[VEC3], uppers: array[VEC3], items: array[int32], positions: array[int32], start: int, each: int,
    nodes: array[NODE],
):  # fmt: skip
    """Recompute the boxes of nodes of one round, leaves and inner ones, and of their children that are single items."""
    for k in range(each):
        at = positions[start + tid() * each + k]
        if at >= 0:
            second = nodes[at].right
            if second < 0:
                _fit_leaf(lowers, uppers, items, at, nodes)
            else:
                for child in (at + 1, second):
                    if nodes[child].right < 0 and nodes[child].skip == 1:
                        _fit_leaf(lowers, uppers, items, child, nodes)
                for axis in range(3):
                    nodes[at].lower[axis] = lesser(nodes[at + 1].lower[axis], nodes[second].lower[axis])
                    nodes[at].upper[axis] = greater(nodes[at + 1].upper[axis], nodes[second].upper[axis])
