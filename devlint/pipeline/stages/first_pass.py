"""Stage: the first pass of the rules, over bare trees. It tells in which scopes there are findings, if any.

Bare trees cost a fraction of LibCST's own. Most files have no finding; those end here. Both passes are the same
analysis, so that the second finds nothing that the first has not. Where an earlier text had findings, LibCST
reads these scopes at once: mostly there are no others now, and a second pass is not needed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from devlint.pipeline.postponed import Postponed
from devlint.pipeline.scope_layout import MetScopes, definitions_of, is_outside, met_scopes, outlined
from devlint.records import dataclass
from devlint.source.gate import Refusal

if TYPE_CHECKING:
    import libcst as cst

    from devlint.finding import Finding
    from devlint.pipeline.stages.parsing import Parsed
    from devlint.pipeline.task import FileTask
    from devlint.pipeline.workspaces import Workspaces
    from devlint.placement.declarations.index import FileIndex
    from devlint.placement.project.workspace import WorkspaceView
    from devlint.placement.syntax.counterparts import Counterparts
    from devlint.repairs.layout import Whole
    from devlint.rules.listeners import Drafts
    from devlint.source.bare.lazy_parser import BareLazyParser
    from devlint.source.part import Part


@dataclass(frozen=True, slots=True)
class FindingScopes:
    """The scopes that findings have a place in: what the second pass has to read with its layout."""

    bare: BareLazyParser
    """The linted file as the first pass read it: what has no finding stays that way."""
    files: frozenset[str]
    """Paths of files, as findings call them; empty if there is no finding."""
    others: Mapping[str, MetScopes]
    """Those of other files, which traces lead through, by these paths."""
    definitions: frozenset[int]
    """The numbers of those definitions of the linted file that hold a node of a finding."""
    module_level: bool
    """Whether a finding has a place outside of the definitions."""
    isolated: bool
    """Whether the workspace served no other file: it may hold the linted one, which files around it import back."""
    leads_back: bool
    """Whether they do."""
    names: frozenset[str]
    """The qualified names of those scopes of the linted file that hold a node of a finding."""
    findings: tuple[Finding, ...] | None
    """With their places, if all of these scopes were read with their layout."""
    drafts: Drafts
    """The findings before they have places."""
    reading: Reading
    """The linted file as it was read."""


def first_pass(parsed: Parsed, task: FileTask, workspaces: Workspaces) -> FindingScopes | None:
    """The scopes with findings; None where bare trees do not tell them, so that LibCST has to read the whole file."""
    if parsed.tree is None or parsed.outline is None:
        return None
    from devlint.placement.syntax.nodes import forget_rendered
    from devlint.source.bare.nodes import NeedsLayout, reading_bare_nodes

    forget_rendered()
    try:
        with reading_bare_nodes():
            return _scopes_in_bare_trees(parsed, task, workspaces)
    except NeedsLayout:
        return None


def _scopes_in_bare_trees(parsed: Parsed, task: FileTask, workspaces: Workspaces) -> FindingScopes:
    """Raises NeedsLayout where a rule reads what bare trees lack."""
    from devlint.placement.interpreter.memo import Depends
    from devlint.source.bare.lazy_parser import BareLazyParser

    assert parsed.tree is not None
    assert parsed.outline is not None
    bare = BareLazyParser(parsed.text, parsed.tree, parsed.outline, keeps=True)
    if not task.leads_back:
        with suppress(Depends):
            with workspaces.open(until_led_back=True) as project:
                found = _scopes(parsed, bare, task, project, False)
            if not found.leads_back:
                return found
        if task.may_wait:
            raise Postponed
    # Where nothing leads back any more, the file itself is read by none of the others, and nothing else differs.
    with workspaces.open(isolated=True) as project:
        return _scopes(parsed, bare, task, project, True)


def _scopes(
    parsed: Parsed, bare: BareLazyParser, task: FileTask, project: WorkspaceView, isolated: bool
) -> FindingScopes:
    from devlint.rules.engine import scopes_with_findings

    reading = Reading(parsed, bare, task.likely)
    if task.uses is not None:
        task.uses.give(reading.index, parsed.text, reading.with_layout)
    scopes, drafts, findings = scopes_with_findings(
        reading.tree,
        parsed.text,
        task.shown_as,
        parsed.role,
        project,
        Path(task.path),
        reading.index,
        reading.parts,
        lambda scopes: all(path == task.shown_as and reading.has_layout(name) for path, name in scopes),
    )
    if task.uses is not None:
        task.uses.take(reading.index, parsed.text, reading.with_layout)
    names = frozenset(name for path, name in scopes if path == task.shown_as)
    others: dict[str, set[str]] = defaultdict(set)
    for path, name in scopes:
        if path != task.shown_as:
            others[path].add(name)
    return FindingScopes(
        bare=bare,
        files=frozenset(path for path, _ in scopes),
        others={path: met_scopes(project.quoted(path), own) for path, own in others.items()},
        definitions=frozenset((*definitions_of(reading.index, names), *_bodies_to_change(reading.index, drafts))),
        module_level=any(is_outside(reading.index, name) for name in names),
        isolated=isolated,
        leads_back=project.leads_back,
        names=names,
        findings=None if findings is None else tuple(findings),
        drafts=drafts,
        reading=reading,
    )


def _bodies_to_change(index: FileIndex, drafts: Drafts) -> Iterator[int]:
    """The numbers of definitions whose bodies a repair changes that is said of their signature."""
    from devlint.drafts.changes import ChooseInBody
    from devlint.placement.syntax.nodes import descend

    changes = (change for _, draft in drafts if draft.repair is not None for change in draft.repair.changes)
    defaults = {id(change.default) for change in changes if isinstance(change, ChooseInBody)}
    for number, info in outlined(index) if defaults else ():
        if any(id(node) in defaults for node in descend(info.header.params)):
            yield number


class Reading:
    """The linted file in bare trees, but for the scopes that are ``likely`` to have findings: LibCST reads those."""

    def __init__(self, parsed: Parsed, bare: BareLazyParser, likely: frozenset[str]) -> None:
        from devlint.placement.declarations.index import index_file
        from devlint.source.lazy_parser import LazyParser

        self._bare = bare
        self._text, self._outline = parsed.text, parsed.outline
        self._parser = LazyParser(parsed.text, parsed.outline)
        self.with_layout: set[int] = set()
        """The numbers of the definitions that LibCST reads."""
        self._outside = False
        self.tree = bare.skeleton()
        self.index = index_file(self.tree, parsed.outline, self._definition)
        if any(is_outside(self.index, name) for name in likely):
            tree = self._parser.skeleton()
            if not isinstance(tree, Refusal):
                self.tree, self._outside = tree, True
                self.index = index_file(tree, parsed.outline, self._definition)
        self.with_layout.update(definitions_of(self.index, likely))

    @property
    def parts(self) -> Sequence[Part]:
        """What LibCST has read."""
        return self._parser.parsed

    def laid_out(self, definitions: Collection[int], module_level: bool) -> tuple[Counterparts, Whole]:
        """LibCST's nodes for those of these definitions, and what a definition is of which they have the signature.

        Raises NeedsLayout where LibCST does not read what :mod:`ast` has read.
        """
        import libcst as cst

        from devlint.placement.syntax.counterparts import Counterparts

        bare = {number: self._bare.definition(number) for number in definitions if number not in self.with_layout}
        skeleton = self.tree if module_level and not self._outside else None
        found = Counterparts()
        read = MetScopes(self._text, self._outline, skeleton, bare).lay_out(self._parser, found)
        if not module_level:
            return found, self.index.whole
        headers = {id(found.of(info.header)): (info, number) for number, info in outlined(self.index)}

        def whole(function: cst.FunctionDef) -> cst.FunctionDef:
            info, number = headers.get(id(function), (None, -1))
            definition = read.get(number, function if info is None else info.node)
            return definition if isinstance(definition, cst.FunctionDef) else function

        return found, whole

    def has_layout(self, name: str) -> bool:
        """Whether LibCST has read all that belongs to the scope of that name."""
        if is_outside(self.index, name) and not self._outside:
            return False
        return self.with_layout.issuperset(definitions_of(self.index, {name}))

    def _definition(self, number: int) -> cst.FunctionDef:
        if number in self.with_layout:
            found = self._parser.definition(number)
            if found is not None:
                return found
            self.with_layout.discard(number)
        return self._bare.definition(number)
