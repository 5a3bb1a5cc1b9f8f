"""Text to IR: the kernel language's syntax, names and types."""

from workbench.frontend.expressions.statics import PURE, reevaluated_static
from workbench.frontend.functions.derivatives import Custom, native_of, watch_custom
from workbench.frontend.names.annotate import (
    ArrayOf,
    Float,
    Generic,
    Int,
    Scalar,
    array_of,
    evaluated,
    evaluated_defaults,
    is_annotation,
    parameter_annotation,
    parameter_annotations,
    parameter_types,
    ref,
    refuse_references,
    value_in,
)
from workbench.frontend.names.lost_values import lost_value
from workbench.frontend.names.python_names import (
    as_builtin,
    instead_of,
    meaning,
    reread,
    seen,
    structs_named,
    uniforms_read,
    usable_in_kernel,
)
from workbench.frontend.state.context import NeedsBlocks, Notice, Tiling
from workbench.frontend.state.definition import (
    DEFAULT,
    GIVEN,
    MISSING,
    Definition,
    Dependency,
    Reads,
    Scope,
    anything,
    default_nodes,
    is_literal,
)
from workbench.frontend.statements.control_flow import Frame, Shown
from workbench.frontend.statements.lower import Lowered, check_signature, lower, result_types

__all__ = [
    "DEFAULT", "GIVEN", "MISSING", "PURE", "ArrayOf", "Custom", "Definition", "Dependency", "Float", "Frame",
    "Generic", "Int", "Lowered", "NeedsBlocks", "Notice", "Reads", "Scalar", "Scope", "Shown", "Tiling",
    "anything", "array_of", "as_builtin", "check_signature", "default_nodes", "evaluated", "evaluated_defaults",
    "instead_of", "is_annotation", "is_literal", "lost_value", "lower", "meaning", "native_of", "parameter_annotation",
    "parameter_annotations", "parameter_types", "reevaluated_static", "ref", "refuse_references", "reread",
    "result_types", "seen", "structs_named", "uniforms_read", "usable_in_kernel", "value_in", "watch_custom",
]  # fmt: skip
