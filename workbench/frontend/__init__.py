"""Text to IR: the kernel language's syntax, names and types."""

from workbench.frontend.annotate import parameter_annotations
from workbench.frontend.context import Watched
from workbench.frontend.definition import MISSING, Definition, Scope
from workbench.frontend.lower import Lowered, check_signature, lower
from workbench.frontend.names import read_again

__all__ = [
    "MISSING",
    "Definition",
    "Lowered",
    "Scope",
    "Watched",
    "check_signature",
    "lower",
    "parameter_annotations",
    "read_again",
]
