"""A `.cu` file without its code of the host: NVRTC compiles device code only.

What has no `__device__` or `__global__` is left out as blanks, so lines and columns stay. What each `kernel<<<…>>>(…)`
in it becomes in Python is noted. Device code that cannot run from Python is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from workbench.backends.cuda.user_source.declarations import Declaration, blank, blanked, closing, declarations, macros
from workbench.backends.cuda.user_source.preprocess import ExpandedSource
from workbench.errors import KernelSyntaxError
from workbench.source import Location

_DEVICE = frozenset(("__global__", "__device__", "__constant__", "__managed__", "__shared__"))
_HOST_NAMES = re.compile(
    r"\bcuda(?!TextureObject_t|SurfaceObject_t|::)[A-Z]\w*|\bcu[A-Z]\w+_t\b|\b(?:cublas|cufft|cusparse|cusolver|cudnn|"
    r"curand|nccl|MPI_)\w+|\bFILE\b|\bthrust::(?!complex)\w+|"
    r"\b(?:std\s*::\s*)?(?:vector|unordered_\w+|map|set|deque|unique_ptr|shared_ptr|mt19937\w*|\w+_distribution|"
    r"[io]?[fs]?stream|[io]?stringstream|random_device|mutex|thread)\s*[<& ]|\bstd\s*::\s*(?:string|chrono)\b"
)
"""Names that only host code has, in declarations without an annotation."""
_FUNCTION_HEAD = re.compile(r"[\w>*&\s~]+\(.*\)[\s\w]*(?:=\s*0\s*)?;?\s*$", re.DOTALL)
_NO_VARIABLE = re.compile(
    r"\s*(?:typedef|using|struct|class|union|enum|template|static_assert|friend|namespace|asm)\b|.*\bconst(?:expr)?\b",
    re.DOTALL,
)
_NO_FUNCTION = re.compile(r"\s*(?:typedef|using|friend|static_assert|virtual)\b|.*=\s*(?:default|delete)\b", re.DOTALL)
_LAUNCH = re.compile(r"(\w[\w:]*(?:\s*<[^<>;(){}]*>)?)\s*<<<(.*?)>>>\s*(?=\()", re.DOTALL)
_DIM3 = re.compile(r"\bdim3\s+([^;]*);")
_SIZES = re.compile(r"(\w+)\s*(?:=\s*dim3\s*)?[({](.*)[)}]", re.DOTALL)
_LAMBDA = re.compile(r"\]\s*((?:\b(?:__device__|__host__)\b\s*)+)(?=[({])")
_REFUSED: tuple[tuple[str, str, str], ...] = (
    (r"\bcudaTextureObject_t\b|\btex(?:1D|2D|3D|Cubemap)\w*|\btexture\s*<", "Textures are not supported.",
     "Pass the data as an array and read it by index; for interpolation, weigh the neighbours."),
    (r"\bcudaSurfaceObject_t\b|\bsurf(?:1D|2D|3D|Cubemap)\w*|\bsurface\s*<", "Surfaces are not supported.",
     "Pass the data as an array and write it by index."),
    (r"\bthrust\s*::\s*(?!complex)\w+", "Thrust is for code of the host and cannot be compiled here.",
     "wb.utils has scans, sorts and sums; within a block use <cub/block/block_reduce.cuh> and its like."),
    (r"\bcurand\w*", "cuRAND is not supported.",
     "Compute random numbers from the thread's index, as a counter-based generator (Philox, PCG) does."),
    (r"\w+\s*<<<", "A kernel cannot launch a kernel here (dynamic parallelism).",
     "Launch both from Python: one after the other, or in a graph with wb.capture()."),
)  # fmt: skip
"""Device code that is not supported: pattern, message, advice."""


def device_part(source: ExpandedSource) -> ExpandedSource:
    """Return the source with the host's code blanked out, its names in `host`, and its launches in `notes`.

    A note is a sentence about one launch, in Python. `constexpr` functions without an annotation become
    `__device__`, and lambdas lose their annotations.

    Raises:
        KernelSyntaxError: device code uses textures, surfaces, Thrust, cuRAND or dynamic parallelism; with its
            location.
    """
    plain, defined = blanked(source.text), macros(source.text)
    out, names, notes = list(source.text), list[str](), list[str]()

    def cut(start: int, end: int) -> None:
        rows = source.text[start:end].split("\n")
        out[start:end] = "\n".join(r if r.startswith("#line") else blank(r) for r in rows)

    members: dict[tuple[str, ...], bool] = {}
    for d in declarations(plain, defined):
        host = _is_host(d)
        if d.form == "class":
            host = members.pop((*d.scope, *_class_name(d)), False) or bool(_HOST_NAMES.search(d.head))
        elif d.member and host and not _function_like(d):  # without one of its variables a class is another
            members[d.scope] = True
            continue
        if host:
            cut(d.start, d.end)
            if d.form == "function" or _function_like(d):
                notes += _launches(plain[d.start : d.end], source.text[d.start : d.end])
                names += re.findall(r"(\w+)\s*\(", d.head)[-1:]
            elif d.form == "other":
                names += re.findall(r"(\w+)\s*(?:[\[={;]|$)", d.head)[:1]
        elif not d.annotations & _DEVICE and d.form == "function":
            at = d.start + d.head.index("constexpr")
            out[at] = "__device__ " + out[at]
    for match in _LAMBDA.finditer(plain):  # NVRTC takes a lambda of device code as such
        out[match.start(1) : match.end(1)] = blank(match[1])
    text = "".join(out)
    _refuse(source, text)
    return replace(source, text=text, host=tuple(dict.fromkeys(names)), notes=tuple(dict.fromkeys(notes)))


def _is_host(d: Declaration) -> bool:
    """Return whether a declaration is code of the host, which NVRTC must not see."""
    if d.annotations & _DEVICE:
        return False
    if "__host__" in d.annotations:
        return True
    if d.form == "function":
        return not re.search(r"\bconstexpr\b", d.head)
    if _HOST_NAMES.search(d.head):
        return True
    if _function_like(d):
        return not _NO_FUNCTION.match(d.head)
    return not d.member and not _NO_VARIABLE.match(d.head)


def _function_like(d: Declaration) -> bool:
    """Return whether a declaration declares or defines a function."""
    return d.form == "function" or bool(_FUNCTION_HEAD.match(d.head) and "=" not in d.head.split("(")[0])


def _class_name(d: Declaration) -> tuple[str, ...]:
    """Return the name of a class, from its head, as a tuple of one; empty if it has none."""
    return tuple(re.findall(r"\w+", d.head.split(":")[0])[-1:])


def _launches(plain: str, text: str) -> Iterator[str]:
    """Yield a sentence for each `<<<…>>>` launch in a function of the host: how it is written in Python."""
    declared = (_SIZES.fullmatch(d) for row in _DIM3.findall(plain) for d in _listed(row))
    sizes = {m[1]: _listed(m[2]) for m in declared if m}
    for match in _LAUNCH.finditer(plain):
        end = closing(plain, match.end())
        grid, block, *more = [*_listed(match[2]), "?"][: max(2, len(_listed(match[2])))]
        arguments = " ".join(text[match.end() + 1 : end].split())
        blocks, threads = ([*(_shape(v, sizes)), *["1"] * 3][:3] for v in (grid, block))
        used = max((n for n in (1, 2, 3) if (blocks[n - 1], threads[n - 1]) != ("1", "1")), default=1)
        dims = [f"{_factor(b)} * {_factor(t)}" for b, t in zip(blocks[:used], threads[:used], strict=True)][::-1]
        dim, shape = (
            (dims[0], threads[0]) if used == 1 else (f"[{', '.join(dims)}]", f"({', '.join(threads[:used][::-1])})")
        )
        shared = f", shared={more[0]}" if more and more[0] != "0" else ""
        name = " ".join(match[1].split())
        call = f'module["{name}"]' if re.search(r"\W", name) else name
        yield f"{name}<<<{', '.join(_listed(match[2]))}>>> is {call}[{dim}]({arguments}, block_dim={shape}{shared})"


def _shape(value: str, sizes: dict[str, list[str]]) -> list[str]:
    """Return the texts of the sizes that a launch's grid or block has: those of a `dim3`, or the value alone.

    `sizes` has those of `dim3` variables, by name.
    """
    written = re.fullmatch(r"dim3\s*[({](.*)[)}]", value, re.DOTALL)
    return _listed(written[1]) if written else sizes.get(value, [value])


def _factor(value: str) -> str:
    """Return a text as a factor: in parentheses unless it is one word or number."""
    return value if re.fullmatch(r"[\w.]+", value) else f"({value})"


def _listed(text: str) -> list[str]:
    """Return the arguments in a text, split at its top-level commas, with white space normalized."""
    pieces, depth = [""], 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and not depth:
            pieces.append("")
        else:
            pieces[-1] += character
    return [" ".join(p.split()) for p in pieces if p.strip()]


def _refuse(source: ExpandedSource, text: str) -> None:
    """Raise a KernelSyntaxError at the first device code that cannot run from Python, such as a launch in a kernel."""
    plain = blanked(text)
    for pattern, problem, advice in _REFUSED:
        if match := re.search(pattern, plain):
            raise KernelSyntaxError(problem, _location(source, plain, match.start(), match.end()), advice)


def _location(source: ExpandedSource, text: str, start: int, end: int) -> Location:
    """Return the location in a cell or header of a range of the expanded text."""
    above = text.rfind("\n#line ", 0, start) + 1
    number = int(text[above:].split(None, 2)[1]) + text.count("\n", above, start) - 1
    column = start - (text.rfind("\n", 0, start) + 1)
    return source.at(number, column, column + end - start)
