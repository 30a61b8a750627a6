"""Where the file that is loaded comes from, as far as the function that loads it shows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from devlint.placement.domain.abstract_values import Container, Host, Opaque, Tensor
from devlint.placement.domain.lattice import CPU
from devlint.placement.syntax.device_words import speaks_of_devices

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.abstract_values import Value
    from devlint.placement.domain.events import Called

_DOWNLOADS = re.compile("download|urlretrieve|from_url|hub|cached_(path|file)|pooch")
"""Words in the names of functions that bring a file from elsewhere and give its path."""

_OF_OWN_RUNS = re.compile("artifact|mlflow|wandb|clearml|neptune")
"""Words of the stores that keep what one's own runs have saved: nobody has published it."""

_NAMED = re.compile("^get_.*(model|weight|checkpoint|pretrained)")
"""Names of functions that give the file of a model by the model's name."""

_AGAIN = re.compile("(^|_)reload(_|$)")

_HOST_STATES = ("scheduler", "scaler", "rng", "random_state", "trt", "tensorrt", "vocab")
"""Words for what schedulers, scalers, random generators and vocabularies save, and for engines of TensorRT, which are
bytes."""

_OF_MODELS = ("model", "weight", "ckpt", "checkpoint", "state")


_WRITES = re.compile("(^|_)(save|write|export|dump|store|create|serialize)(_|$)")
"""Words in the names of functions that write the file whose path they are handed."""


def holds_host_state(name: str) -> bool:
    """Whether what a file is called says that it holds no tensors. A tokenizer of images or of sound is a model."""
    lowered = name.lower()
    if "tokenizer" in lowered and not any(word in lowered for word in _OF_MODELS):
        return True
    return any(word in lowered for word in _HOST_STATES)


def is_downloaded(function: cst.CSTNode, source: cst.CSTNode) -> bool:
    """Whether the package's authors published the file: whatever they saved, they can load it on other machines."""
    import libcst as cst

    from devlint.placement.syntax.nodes import code_of, descend, dotted

    sources = list(sources_of(function, source))
    bound = [
        arm for part in sources[1:] for arm in ((part.body, part.orelse) if isinstance(part, cst.IfExp) else (part,))
    ]
    own = any(isinstance(part, cst.Name) and _is_parameter(function, part.value) for part in bound)
    if own or may_be_as_given(function, source):
        return False  # `path = download(name) if is_url(name) else name`: a file of the caller's own comes here too.
    for call in (part for source in sources for part in descend(source) if isinstance(part, cst.Call)):
        name = (dotted(call.func) or "").rpartition(".")[2].lower()
        literal = bool(call.args) and isinstance(call.args[0].value, cst.SimpleString)
        downloads = _DOWNLOADS.search(name) is not None and _OF_OWN_RUNS.search(code_of(call.func).lower()) is None
        if downloads or (literal and _NAMED.search(name) is not None):
            return True
    return False


_OF_ANYBODY = frozenset({"snapshot_download", "hf_hub_download"})
"""Functions that download from a store where everybody publishes. Others know the files of their authors by name."""


def is_downloaded_by_name(function: cst.CSTNode, source: cst.CSTNode) -> bool:
    """``snapshot_download(repo_id=name)``: the caller says whose file it is, which need not be one of the authors'."""
    import libcst as cst

    from devlint.placement.syntax.nodes import descend, dotted

    calls = (part for one in sources_of(function, source) for part in descend(one) if isinstance(part, cst.Call))
    downloads = (one for one in calls if (dotted(one.func) or "").rpartition(".")[2] in _OF_ANYBODY)
    named = (one.args[0].value for one in downloads if one.args)
    return any(isinstance(one, cst.Name) and _is_parameter(function, one.value) for one in named)


def _is_parameter(function: cst.CSTNode, name: str) -> bool:
    import libcst as cst

    from devlint.placement.syntax.nodes import parameters_of

    return isinstance(function, cst.FunctionDef) and any(one.name.value == name for one in parameters_of(function))


def may_be_as_given(function: cst.CSTNode, source: cst.CSTNode) -> bool:
    """Whether it is a parameter that only some arm binds anew: ``if path is None: path = download()``."""
    import libcst as cst

    from devlint.placement.syntax.nodes import descend

    if not isinstance(source, cst.Name) or not isinstance(function, cst.FunctionDef):
        return False
    if not _is_parameter(function, source.value):
        return False
    statements = (line for line in function.body.body if isinstance(line, cst.SimpleStatementLine))
    assigned = (part for line in statements for part in descend(line) if isinstance(part, cst.AssignTarget))
    return not any(isinstance(one.target, cst.Name) and one.target.value == source.value for one in assigned)


def is_downloaded_to(function: cst.CSTNode, source: cst.CSTNode) -> bool:
    """`urlretrieve(url, path)`: whether the function itself downloads to this path.

    Or it writes there what it asked the web for. Other bytes may come from another run of the same program.
    """
    import libcst as cst

    from devlint.placement.syntax.nodes import code_of, descend, dotted

    text = code_of(source)
    calls = [part for part in descend(function) if isinstance(part, cst.Call)]
    of_the_web = any(_ASKS_THE_WEB.search(dotted(call.func) or "") for call in calls)
    for call in calls:
        name = (dotted(call.func) or "").rpartition(".")[2]
        writes = name == "open" and any(code_of(argument.value) in _TO_WRITE for argument in call.args[1:2])
        # `load_state_dict_from_url(path)` takes the address, and gives what it has read.
        downloads = _DOWNLOADS.search(name.lower()) is not None and not name.startswith("load_")
        fills = (writes and of_the_web) or downloads
        if fills and any(code_of(argument.value) == text for argument in call.args):
            return True
    return False


_ASKS_THE_WEB = re.compile(r"\brequests\.(get|post|Session)$|\burlopen$|\bhttpx\.")

_TO_WRITE = frozenset({'"wb"', "'wb'"})
"""Modes of a file that is written anew."""


def is_in_memory(source: cst.CSTNode) -> bool:
    """`io.BytesIO(data)`: the bytes are at hand. What fills an empty one later may come from any machine."""
    import libcst as cst

    from devlint.placement.syntax.nodes import descend, dotted

    calls = (part for part in descend(source) if isinstance(part, cst.Call))
    return any((dotted(call.func) or "").rpartition(".")[2] == "BytesIO" and call.args for call in calls)


def is_of_this_run(function: cst.CSTNode, source: cst.CSTNode, saved: Collection[str]) -> bool:
    """Whether it is loaded again: the function says so, or by default it is what the same file of code saved."""
    import libcst as cst

    from devlint.placement.syntax.nodes import code_of, names_in

    if not isinstance(function, cst.FunctionDef):
        return False
    if _AGAIN.search(function.name.value) is not None:
        return True
    names = names_in(source)
    params = (*function.params.params, *function.params.kwonly_params)
    return any(p.name.value in names and p.default is not None and code_of(p.default) in saved for p in params)


def sources_of(function: cst.CSTNode, source: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The expression, and what the names in it are bound to in the function."""
    import libcst as cst

    from devlint.placement.syntax.nodes import descend, names_in

    yield source
    names = names_in(source)
    for statement in descend(function):
        if isinstance(statement, cst.Assign):
            targets = (target.target for target in statement.targets)
            if any(isinstance(target, cst.Name) and target.value in names for target in targets):
                yield statement.value


_JOINS = frozenset({"join", "joinpath", "Path", "PurePath", "str", "fspath"})


def paths_in(source: cst.CSTNode) -> Iterator[str]:
    """A path and the parts that it is put together of, in the source's words."""
    import libcst as cst

    from devlint.placement.syntax.nodes import code_of, dotted

    waiting = [source]
    while waiting:
        part = waiting.pop()
        yield code_of(part)
        if isinstance(part, cst.Call) and (dotted(part.func) or "").rpartition(".")[2] in _JOINS:
            waiting += [argument.value for argument in part.args]
        elif isinstance(part, cst.BinaryOperation):
            waiting += [part.left, part.right]
        elif isinstance(part, cst.FormattedString):
            waiting += [one.expression for one in part.parts if isinstance(one, cst.FormattedStringExpression)]


def is_brought_to_the_cpu(saved: cst.CSTNode) -> bool:
    """`model.cpu().state_dict()`, `{k: t.cpu() for k, t in state.items()}`: nothing of it is on an accelerator."""
    import libcst as cst

    part = saved.value if isinstance(saved, cst.DictComp) else saved
    while isinstance(part, cst.Call) and isinstance(part.func, cst.Attribute):
        if part.func.attr.value == "cpu":
            return True
        part = part.func.value
    return False


def is_on_the_cpu(value: Value) -> bool:
    """Whether what is saved is known to be there: `torch.tensor(rows)`, a dict of such."""
    if isinstance(value, Container):
        return bool(value.values) and all(map(is_on_the_cpu, value.values))
    if not isinstance(value, (Tensor, Opaque)) or value.device != CPU:
        return isinstance(value, Host)
    first = value.provenance.first if value.provenance is not None else None
    # What another file brings is where that was saved from, unless its load says where to.
    return first is None or not (first.bare and first.name == "torch.load")


_OF_NUMBERS = frozenset(
    "List Dict Tuple Set Sequence Optional list dict tuple set int float str bool None bytes".split()
)


def is_of_numbers(owner: cst.ClassDef | None, saved: cst.CSTNode) -> bool:
    """`self.losses`, which the class declares as `losses: list[float]`."""
    import libcst as cst

    from devlint.placement.syntax.nodes import code_of

    if owner is None or not isinstance(saved, cst.Attribute):
        return False
    for line in owner.body.body:
        for statement in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            if isinstance(statement, cst.AnnAssign) and code_of(statement.target) == saved.attr.value:
                return set(re.findall(r"\w+", code_of(statement.annotation.annotation))) <= _OF_NUMBERS
    return False


def is_told_elsewhere(function: cst.CSTNode, source: cst.CSTNode) -> bool:
    """Whether another arm of the function loads the same with a place: this one is for where the accelerator is.

    An arm for a run over several machines, or for what failed in the other one, is for any machine.
    """
    import libcst as cst

    from devlint.placement.syntax.nodes import code_of, descend

    text = code_of(source)
    told = [
        call
        for call in descend(function)
        if isinstance(call, cst.Call) and call.args and call.args[0].value is not source
        if code_of(call.args[0].value) == text and any(_keyword(argument) == "map_location" for argument in call.args)
    ]
    return any(_is_for_devices(function, source, call) for call in told)


def _is_for_devices(function: cst.CSTNode, source: cst.CSTNode, told: cst.CSTNode) -> bool:
    """Whether what decides between the two speaks of devices, or nothing does."""
    import libcst as cst

    from devlint.placement.syntax.nodes import code_of, descend

    decides = []
    for node in descend(function):
        if isinstance(node, (cst.If, cst.IfExp, cst.Try)):
            arms = (sum(part is source or part is told for part in descend(arm)) for arm in _arms_of(node))
            if any(count == 1 for count in arms):
                decides.append("" if isinstance(node, cst.Try) else code_of(node.test))
    return not decides or any(speaks_of_devices(test) or "map_location" in test for test in decides)


def _arms_of(node: cst.If | cst.IfExp | cst.Try) -> list[cst.CSTNode]:
    import libcst as cst

    if isinstance(node, cst.Try):
        return [node.body, *node.handlers]
    return [node.body, *([node.orelse] if node.orelse is not None else [])]


def _keyword(argument: cst.Arg) -> str:
    return argument.keyword.value if argument.keyword is not None else ""


def may_be_written(event: Called) -> tuple[str, ...]:
    """What a call may write to, in the source's words: of what creates, what is named before all that goes into it."""
    from devlint.placement.syntax.nodes import code_of

    how, given = _writes(event.name.rsplit(".", 1)[-1]), event.call.arguments
    if not how or (how == "create" and len(given) < 2):
        return ()
    return tuple(code_of(argument.node) for argument in (given[:1] if how == "create" else given))


@lru_cache(4096)
def _writes(name: str) -> str:
    """The word in the name of a function by which it writes a file; empty where there is none."""
    found = _WRITES.search(name)
    return "" if found is None else found[2]


_TRAINS = re.compile("(^|_)(train|fit|finetune|retrain)(_|$)")
_MAY_TRAIN = re.compile(f"{_TRAINS.pattern}|^run$")
_OWN_RUNS = frozenset({"self.run", "trainer.run", "self.trainer.run"})


@lru_cache(4096)
def _may_train(name: str) -> bool:
    return _MAY_TRAIN.search(name) is not None


def trains(event: Called) -> bool:
    """A call that trains by its name; `net.train()` only sets a mode, unless a trainer does it."""
    function = event.call.node.func
    attribute = getattr(function, "attr", None)
    if attribute is not None and not _may_train(attribute.value):
        return False  # nearly every call, and its source is costly to write out
    from devlint.placement.syntax.nodes import code_of

    whole = code_of(function)
    owner, _, name = whole.rpartition(".")
    if name == "train" and owner and "trainer" not in owner.lower():
        return False
    return whole in _OWN_RUNS or _TRAINS.search(name) is not None
