"""Which stream a piece of code runs on, as its `with` statement names it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.placement.syntax.nodes import code_of, dotted
from devlint.records import dataclass
from devlint.repairs.bound_names import path_to

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Begun


@dataclass(frozen=True, slots=True, eq=False)
class StreamBlock:
    """`with torch.cuda.stream(side):`. ``stream`` is `side`, ``library`` is `torch.cuda`."""

    node: cst.With
    stream: str
    library: str
    entered: str

    @property
    def of_current(self) -> str:
        """How the stream is spelled that is current where none is entered."""
        return f"{self.library}.current_stream()"


def stream_around(node: cst.CSTNode, begun: Begun | None) -> StreamBlock | None:
    """The innermost stream that is entered by name around a node of a function."""
    import libcst as cst

    if begun is None or not isinstance(begun.node, cst.FunctionDef):
        return None
    for outer in reversed(path_to(begun.node, node)):
        for item in outer.items if isinstance(outer, cst.With) else ():
            call = item.item
            if isinstance(outer, cst.With) and isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute):
                stream = dotted(call.args[0].value) if len(call.args) == 1 else None
                if call.func.attr.value == "stream" and stream is not None:
                    return StreamBlock(outer, stream, code_of(call.func.value), code_of(call))
    return None
