"""Compiled programs and edited kernels: a program compiled by XLA does not return to Python, so it is stopped natively.

Each target has a word that its thunk reads at every call: null, or the message with which the call fails. It is set
as long as everything that the target was made for is outdated: its kernel, because a cell was run again, or a func,
struct or constant that it uses. Exported programs call targets of their own, whose words are never set.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from workbench.api.kernels.editions import REBIND_CALLBACKS, STALE, Edition
from workbench.api.kernels.func import Func
from workbench.api.kernels.kernel import Kernel, Specialisation
from workbench.errors import LaunchError
from workbench.events import Outdated, listening, publish
from workbench.forks import fork_safe_lock
from workbench.frontend.names.python_names import meaning, seen
from workbench.frontend.state.definition import MISSING, Scope

CLEAR = "Call jax.clear_caches(): the next call compiles the program with the new one."
MEND = "Fix its cell and run it again."
T = TypeVar("T", bound=Any)  # a target, of the CPU or of GPUs
_lock = fork_safe_lock(__name__, "_lock", threading.RLock)


@dataclass(frozen=True)
class TargetVersion:
    """Represents the version of a kernel that a target was built for.

    Attributes:
        edition: the kernel's version.
        kernel: the kernel, as long as it lives.
        reads: names that its code used, and what they meant.
    """

    edition: Edition
    kernel: weakref.ref[Kernel]
    reads: tuple[tuple[Scope, str, Any], ...]

    @property
    def outdated(self) -> str:
        """The reason why another target would be built now; empty if there is none."""
        # The kernel first: if its own cell was run again, that is the reason a user knows.
        if self.edition.outdated:
            return self.edition.outdated
        for scope, path, before in self.reads:
            now = seen(scope, path)
            if isinstance(now, Func) and now.stale:
                return f"{self.edition.kernel} uses {path}, which {STALE}: {now.stale.rstrip('.')}"
            if meaning(now) != before:
                return f"{self.edition.kernel} uses {path}, which {_whereabouts(now)}"
        return ""

    @property
    def is_gone(self) -> bool:
        """Return whether the kernel is gone, and no other kernel has its name in the notebook."""
        return self.kernel() is None and (self.edition.name is None or self.edition.name.kernel is None)


def _whereabouts(now: Any) -> str:
    """Return what happened to a name, as the rest of a sentence, by what it means `now`."""
    if now is MISSING:
        return "is gone"
    definitions = getattr(now, "__wb_definitions__", ())
    return f"was redefined in {definitions[0].source.name}" if definitions else "has changed"


class _Calls:
    """Represents the calls of one target.

    Attributes:
        versions: the versions of kernels that it was built for.
        word: the word of its thunk, in native memory; None until the thunk is loaded.
        message: the C string with which its calls fail; None while they do not.
    """

    def __init__(self) -> None:
        """Begin without versions, word and message."""
        self.versions: list[TargetVersion] = []
        self.word: Any = None
        self.message: Any = None

    def look(self) -> None:
        """Let the target's calls fail if all kernel versions that it was built for are outdated, else let them run.

        Versions that can never be replaced any more are dropped first; with none left the calls run.
        """
        # A kernel without a name in a notebook can never be replaced; once it is gone its claim says nothing.
        self.versions = [c for c in self.versions if c.edition.name is not None or not c.is_gone]
        reasons = [c.outdated for c in self.versions if not c.is_gone]
        self.set_message(
            f"{reasons[-1]}. {MEND if STALE in reasons[-1] else CLEAR}" if reasons and all(reasons) else ""
        )

    def blames(self, cell: str) -> bool:
        """Return whether the target is outdated by what a cell binds."""
        return self.message is not None and f" in {cell}. ".encode() in self.message.value

    def set_message(self, message: str) -> None:
        """Set the thunk's word to a message, with which its calls fail from now on; an empty one sets it to null."""
        if message == (self.message.value.decode() if self.message is not None else ""):
            return
        if message and message not in _messages:
            _messages[message] = ctypes.create_string_buffer(message.encode())
        self.message = _messages[message] if message else None
        if self.word is not None:
            self.word.value = ctypes.addressof(self.message) if self.message is not None else None


_calls: dict[str, _Calls] = {}
_messages: dict[str, Any] = {}
"""All messages that a word was ever set to: a call may still be reading one. One edit gives many words the same."""


def claim(target: str, specialisation: Specialisation) -> None:
    """Record that a target was built for the present version of a kernel, and refresh the target's word."""
    kernel = specialisation.kernel
    # What names meant, not their objects: claims live as long as the process, and must not hold kernels.
    reads = [(w.definition.scope, w.path, meaning(w.value)) for w in specialisation.watched if w.reevaluate is None]
    with _lock:
        calls = _calls.setdefault(target, _Calls())
        if not any(c.edition is kernel.edition and not c.outdated for c in calls.versions):
            calls.versions = [c for c in calls.versions if not c.outdated]
            calls.versions.append(TargetVersion(kernel.edition, weakref.ref(kernel), tuple(reads)))
        calls.look()


def watch_word(target: str, address: int) -> None:
    """Set the address of the word of a target's thunk, and write the target's present message there."""
    with _lock:
        calls = _calls.setdefault(target, _Calls())
        calls.word = ctypes.c_void_p.from_address(address)
        calls.word.value = ctypes.addressof(calls.message) if calls.message is not None else None


# ---- how many compiled programs there are


class _Program:
    """Represents a program that JAX compiled, and lives as long as that: the names of the targets that it calls."""

    def __init__(self) -> None:
        """Begin without targets."""
        self.targets: set[str] = set()

    def __reduce__(self) -> tuple[type[_Program], tuple[()]]:
        """Pickle it as a new program without targets."""
        return _Program, ()  # a program that JAX keeps on disk


_programs: weakref.WeakSet[_Program] = weakref.WeakSet()
EXPORTING: ContextVar[str | None] = ContextVar("EXPORTING", default=None)
"""The GPU architecture that `jax_export` exports for (`sm_90`; "": this machine's); None outside of an export."""
exported: set[str] = set()
"""The targets that exported programs call."""
OURS: ContextVar[bool] = ContextVar("OURS", default=False)
"""True while a call that nothing traces runs: its program is never called again once outdated, so it is not counted."""


def called(ctx: Any, target: T) -> T:
    """Return the target that a program which JAX lowers is to call for `target`: while exporting, the exported one.

    It also records that the program calls the target.

    Raises:
        LaunchError: the target is outdated, or JAX exports the program without `wb.jax_export`.
    """
    calls = _calls.get(target.name)
    if calls is not None and calls.message is not None:
        raise LaunchError(calls.message.value.decode(), function=target.description.kernel)
    if note_export(ctx, target.description.kernel, target.exported.name):
        return target.exported
    module = ctx.module_context
    if not OURS.get():
        # One per compiled program, however many launches it has; JAX drops its keep-alives with the program.
        program = next((k for k in module.keepalives if isinstance(k, _Program)), None)
        if program is None:
            program = _Program()
            module.add_keepalive(program)
            _programs.add(program)
        program.targets.add(target.name)
    return target


def note_export(ctx: Any, kernel: str, name: str) -> bool:
    """Record that an exported program calls the target `name`; return False, with no record, if JAX does not export.

    Raises:
        LaunchError: `jax.export.export` was called directly, not through `wb.jax_export`.
    """
    if not getattr(ctx.module_context.lowering_parameters, "for_export", False):
        return False
    if EXPORTING.get() is None:
        raise LaunchError(
            f"jax.export.export does not know the calls of {kernel}.",
            advice="Call wb.jax_export(f)(…) in its place, with the same options; it returns the same kind of object.",
            function=kernel,
        )
    exported.add(name)
    return True


def look(cell: str) -> None:
    """Refresh which targets are outdated, and publish the number of programs that call those outdated by `cell`."""
    with _lock:
        for calls in list(_calls.values()):
            calls.look()
        wrong = {name for name, calls in _calls.items() if calls.blames(cell)}
        kernels = {_calls[name].versions[-1].edition.kernel for name in wrong if _calls[name].versions}
        programs = sum(not p.targets.isdisjoint(wrong) for p in list(_programs))
    if programs and listening(Outdated):
        publish(Outdated(tuple(sorted(kernels)), programs))


REBIND_CALLBACKS.append(look)
