"""The finder for `import warp` and its submodules: ours, and those that the user's own wheel has in plain Python."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from workbench.frontend.names.python_names import PYTHON_FORMS
from workbench.host.vectors import HostVector
from workbench.types import Scalar, Vector

HERE = "workbench.compat.warp"
TESTED = "1.19"
"""The version of the wheels whose own modules run on Workbench's."""

OURS = ("config", "types")
"""Submodules for which a module in `modules` stands."""
WHEEL = (
    "autograd", "examples", "fem", "geometry", "optim", "render", "sparse", "tests", "utils",
    "_src.autograd", "_src.coloring", "_src.fem", "_src.geometry", "_src.logger", "_src.math", "_src.optim",
    "_src.render", "_src.sparse", "_src.utils",
)  # fmt: skip
"""Modules of the wheel that are plain Python on top of the rest."""
ELSE = {name: f"workbench.{name}" for name in ("optim", "utils")}
"""The stand-ins for modules of the wheel where there is no wheel, or `install` was not called."""
FROM_WHEEL = {
    **dict.fromkeys(("Logger", "get_logger", "set_logger"), "logger"),
    **dict.fromkeys(("ScopedLogger", "ScopedLogLevel", "quat_between_vectors", "transform_expand"), "utils"),
} | dict.fromkeys((
    "norm_huber", "norm_l1", "norm_l2", "norm_pseudo_huber", "quat_from_euler", "quat_to_euler", "quat_to_rpy",
    "quat_twist", "quat_twist_angle", "quat_twist_angle_signed", "smooth_normalize", "transform_compose",
    "transform_decompose", "transform_from_matrix", "transform_to_matrix", "transform_twist", "transform_wrench",
    "velocity_at_point",
), "math")  # fmt: skip
"""Names of `warp` to the module of the wheel's `warp._src` that has them."""


class Finder(MetaPathFinder, Loader):
    """Finds stand-ins for submodules of this package, and, once installed, for `warp` and its submodules."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """Return the import spec of a stand-in for a module of Warp, or of the wheel's own; None for other modules.

        Raises:
            ModuleNotFoundError: it is one of the wheel's own, and Warp is not installed.
            ImportError: it is one of the wheel's own, and the wheel has another version than those tested.
        """
        root = next((r for r in (HERE, "warp") if name == r or name.startswith(f"{r}.")), None)
        rest = name[len(root) + 1 :] if root else ""
        if root is None or (root == HERE and rest not in (*OURS, *ELSE)):
            return None
        is_plain = root == "warp" and any(f"{rest}.".startswith(f"{module}.") for module in WHEEL)
        if is_plain and not (rest in ELSE and PathFinder.find_spec("warp") is None):
            return _from_wheel(name, rest)
        depth = 2 if rest.startswith(("_src.apic.", "_src.jax.")) else 1
        internals = rest.startswith("_src.") and rest.count(".") == depth
        if rest in ("", "_src", *OURS, *ELSE) or internals:
            return ModuleSpec(name, self, is_package=rest in ("", "_src"))
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Replace the module in `sys.modules` by Workbench's stand-in for it."""
        rest = module.__name__.removeprefix(HERE).removeprefix("warp").removeprefix(".")
        homes = {"": HERE, "config": HERE, "types": f"{HERE}.modules.types", **ELSE}
        value: Any = importlib.import_module(homes.get(rest, f"{HERE}.modules.internals"))
        if rest not in homes:
            value = value.Internals(module.__name__, module.__spec__)
        sys.modules[module.__name__] = value.config if rest == "config" else value


def wheel() -> Path:
    """Return the folder of the installed Warp.

    Raises:
        ModuleNotFoundError: none is installed.
    """
    spec = PathFinder.find_spec("warp")
    if spec is None or spec.origin is None:
        what = "this part of Warp comes from its own wheel, which is not installed"
        raise ModuleNotFoundError(f"{what}: pip install warp-lang=={TESTED}.*", name="warp")
    return Path(spec.origin).parent


class _KindOfTypes(type):
    """The metaclass of `Types`, which behaves as `type` does, also for Workbench's scalar and vector types."""

    def __instancecheck__(cls, value: object) -> bool:
        """Return whether a value is a class, or a scalar or vector type of Workbench."""
        return isinstance(value, (type, Scalar, Vector))

    def __call__(cls, *args: Any) -> Any:
        """Return the type of a value, of a host's vector its Workbench type; with more arguments, make a class."""
        return args[0].type if isinstance(args[0], HostVector) else type(*args)

    def __getitem__(cls, item: Any) -> Any:
        """Return Python's annotation `type[item]`."""
        return type[item]


class Types(type, metaclass=_KindOfTypes):
    """Stands for `type` in the wheel's modules: `isinstance` is true of Workbench's scalar and vector types, too."""


PYTHON_FORMS[Types] = "type"


class _WheelLoader(SourceFileLoader):
    """The import loader of modules from Warp's own wheel."""

    def exec_module(self, module: ModuleType) -> None:
        """Run a module of the wheel, in which `type` means `Types`."""
        module.__dict__["type"] = Types
        super().exec_module(module)


def _from_wheel(name: str, rest: str) -> ModuleSpec | None:
    """Return the import spec of the wheel's own module; None if it has no such file.

    `rest` is the module's name below `warp`.

    Raises:
        ModuleNotFoundError: Warp is not installed.
        ImportError: the wheel has another version than those tested.
    """
    folder = wheel()
    version = importlib.metadata.version("warp-lang")
    if not version.startswith(f"{TESTED}."):
        text = f"{name} of warp-lang {version}: only that of warp-lang {TESTED} runs on Workbench"
        raise ImportError(text, name=name)
    path = folder.joinpath(*rest.split("."))
    is_package = (path / "__init__.py").exists()
    file = path / "__init__.py" if is_package else path.with_suffix(".py")
    if not file.exists():
        return importlib.util.spec_from_loader(name, None, is_package=True) if path.is_dir() else None
    inside = [str(path)] if is_package else None
    loader = _WheelLoader(name, str(file))
    return importlib.util.spec_from_file_location(name, file, loader=loader, submodule_search_locations=inside)


FINDER = Finder()


def install() -> None:
    """Let `import warp`, and every import below it, mean this package: for notebooks, pytest and spawned children.

        >>> import workbench.compat.warp
        >>> workbench.compat.warp.install()
        >>> import warp as wp

    Modules that the wheel has in plain Python (`warp.fem`, `warp.sparse`, …) are then read from the installed wheel.
    A process that is spawned has to call it, too.

    Raises:
        ImportError: Warp itself is already imported.
    """
    before = sys.modules.get("warp")
    if before is not None and before is not sys.modules[HERE]:
        version = getattr(before, "__version__", "")
        message = f"warp {version} is already imported: call install() in a process before anything imports warp"
        raise ImportError(message, name="warp")
    sys.meta_path[:] = [FINDER, *(f for f in sys.meta_path if f is not FINDER)]
    sys.modules["warp"] = sys.modules[HERE]
