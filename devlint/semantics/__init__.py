"""What PyTorch does with devices: tables generated from PyTorch, and one judge of whether operands may meet in an
operation.

Imports nothing of devlint and never torch; the generator in `devlint.semantics.generate` does, at development time.
"""

from devlint.semantics.device_name import DeviceNameCheck, Mangled, NamedDevice, Refused, parse_device
from devlint.semantics.dtype_name import dtype_class
from devlint.semantics.errors import ErrorKind, classify
from devlint.semantics.meeting import meet
from devlint.semantics.operand import Clash, Meets, Operand, Relate, Relation, Unclear, Verdict
from devlint.semantics.operation import (
    Dim,
    DType,
    Elements,
    Factory,
    ModuleInfo,
    Operation,
    Parameter,
    Result,
    Rule,
    Shape,
    Transfer,
)
from devlint.semantics.rulebook import (
    aten,
    function,
    is_device_probe,
    is_immovable,
    is_tensor_attribute,
    lacks,
    method,
    module,
    operator,
    probe_for,
    process_setting,
    raises_without,
    refused_device,
    transfer,
)

__all__ = [
    "Clash",
    "DType",
    "DeviceNameCheck",
    "Dim",
    "Elements",
    "ErrorKind",
    "Factory",
    "Mangled",
    "Meets",
    "ModuleInfo",
    "NamedDevice",
    "Operand",
    "Operation",
    "Parameter",
    "Refused",
    "Relate",
    "Relation",
    "Result",
    "Rule",
    "Shape",
    "Transfer",
    "Unclear",
    "Verdict",
    "aten",
    "classify",
    "dtype_class",
    "function",
    "is_device_probe",
    "is_immovable",
    "is_tensor_attribute",
    "lacks",
    "meet",
    "method",
    "module",
    "operator",
    "parse_device",
    "probe_for",
    "process_setting",
    "raises_without",
    "refused_device",
    "transfer",
]
