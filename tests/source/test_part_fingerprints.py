"""Which edits of a file change which of its parts."""

from __future__ import annotations

import pytest

from devlint.source.dependency_parts import (
    CLASS_NAMES,
    CLASSES,
    IMPORTS,
    MODULE,
    PROGRAM,
    SIGNS,
    attribute_part,
    binding_part,
    body_part,
    calls_part,
    name_part,
    only_mention_part,
)
from devlint.source.part_fingerprints import PartFingerprints
from devlint.source.program import program_of

TEXT = '''"""A file."""
import os
import torch
from torch import nn
from .other import Thing, helper as _helper
from .more import *

logger = make_logger(__name__)
SIZE = 3
LIMIT = SIZE * 2
UNUSED = None


class Base(nn.Module):
    """A base."""

    kind: str = "base"

    def __init__(self, size=SIZE):
        super().__init__()
        self.scale = torch.zeros(size)

    def forward(self, x):
        # apart
        return x * self.scale

    def extra(self, x: "Thing"):
        return _helper(x)


class Net(Base):
    def forward(self, x):
        def inner(y):
            return y + LIMIT

        logger.info("x")
        return inner(super().forward(x))


def make(n: int = 2):
    """Makes."""
    return torch.zeros(n)


def lone():
    import math

    return math.pi


if hasattr(torch, "accelerator"):
    def now():
        return torch.accelerator.current_accelerator()
else:
    now = None
'''

NAMES = [*map(name_part, ("logger", "SIZE", "LIMIT", "UNUSED", "Base", "Net", "make", "lone", "now"))]
NAMES += map(name_part, ("os", "math", "Thing", "_helper", "absent", "module"))
BODIES = [*map(body_part, ("Base.__init__", "Base.forward", "Base.extra", "Net.forward", "Net.forward.inner", "make"))]
BODIES += map(body_part, ("lone", "now", "absent", "Absent.forward"))
ALL = {SIGNS, IMPORTS, MODULE, PROGRAM, *NAMES, *BODIES}


def fingerprints_of(text: str) -> PartFingerprints:
    program = program_of(text)
    assert program is not None
    return PartFingerprints(program)


def changed(old: str, new: str, text: str = TEXT) -> set[str]:
    """The parts that an edit changes, but for the whole."""
    assert old in text, old
    before, after = fingerprints_of(text), fingerprints_of(text.replace(old, new, 1))
    found = {part for part in ALL if before.of([part]) != after.of([part])}
    assert (PROGRAM in found) == bool(found), "what changes a part changes the whole"
    return found - {PROGRAM}


def of_names(*names: str) -> set[str]:
    return set(map(name_part, names))


def of_bodies(*names: str) -> set[str]:
    return set(map(body_part, names))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# apart", "# another"),
        ("        # apart\n", "\n\n"),
        ('"""A file."""', '"""A file\n\nof many lines."""'),
        ('    """A base."""', '    """Another base,\n\n    told at length."""'),
        ('    """Makes."""', "    '''Makes.'''  # indeed"),
        ("SIZE = 3\n", "# three\nSIZE = 3  # it is\n\n"),
    ],
)
def test_words_change_nothing(old: str, new: str) -> None:
    before, after = fingerprints_of(TEXT), fingerprints_of(TEXT.replace(old, new, 1))
    assert {part for part in ALL if before.of([part]) != after.of([part])} == set()


def test_a_body_is_its_own_part() -> None:
    assert changed("return x * self.scale", "return self.scale") == of_bodies("Base.forward")
    assert changed("return math.pi", "return 3") == of_bodies("lone")
    assert changed("return y + LIMIT", "return y") == of_bodies("Net.forward", "Net.forward.inner")


def test_a_body_that_shows_something_by_its_outline_is_a_part_of_its_name() -> None:
    found = changed("return _helper(x)", "self.late = x")
    assert of_names("Base", "Net") | of_bodies("Base.__init__", "Net.forward") <= found
    assert not found & (of_names("make", "SIZE", "absent") | of_bodies("make", "lone"))
    assert of_names("make") | of_bodies("make") <= changed("return torch.zeros(n)", "yield torch.zeros(n)")
    assert of_names("make") | of_bodies("make") <= changed("return torch.zeros(n)", "return torch.zeros(n).to(0)")


def test_of_what_a_body_mentions_of_itself_the_methods_count() -> None:
    assert changed("return x * self.scale", "return x * self.scale * self.bias") == of_bodies("Base.forward")
    assert of_names("Base") <= changed("return x * self.scale", "return self.extra(x)")


@pytest.mark.parametrize(
    "added", ["TOUCHED = None", "def touched(): return 1", "class Touched:\n    a = 1", "import abc"]
)
def test_a_new_name_changes_no_other(added: str) -> None:
    found = changed(TEXT, f"{TEXT}\n{added}\n")
    assert found == ({IMPORTS} if added.startswith("import") else set())


@pytest.mark.parametrize(
    "added", ["absent = 1", "def absent(): ...", "class absent: ...", "import absent", "import a as absent"]
)
def test_a_name_that_appears_is_a_change_for_who_looked_for_it(added: str) -> None:
    assert name_part("absent") in changed(TEXT, f"{TEXT}\n{added}\n")
    assert name_part("absent") in changed("return x * self.scale", "global absent")


def test_a_name_that_appears_is_a_change_for_who_speaks_of_it() -> None:
    assert changed(TEXT, f"{TEXT}\ninfo = 1\n") == of_bodies("Net.forward", "Net.forward.inner")
    assert of_names("logger") | {MODULE} <= changed(TEXT, f"{TEXT}\nmake_logger = None\n")


def test_a_name_that_goes_or_is_another_is_a_change_for_who_looked_for_it() -> None:
    assert changed("UNUSED = None\n", "") == of_names("UNUSED")
    assert changed("UNUSED = None\n", "UNUSED = 1\n") == of_names("UNUSED")
    assert changed("def lone()", "def alone()") == of_names("lone") | of_bodies("lone")
    assert changed("def make(n", "async def make(n") == of_names("make") | of_bodies("make")


def test_a_value_is_a_part_of_what_is_made_of_it() -> None:
    found = changed("SIZE = 3", "SIZE = 4")
    assert of_names("SIZE", "LIMIT", "Base", "Net") | of_bodies("Base.forward", "Net.forward") | {MODULE} <= found
    assert not found & (of_names("make", "now", "Thing") | of_bodies("make", "lone"))


def test_a_signature_and_a_decorator_are_parts_of_their_name() -> None:
    assert changed("def make(n: int = 2)", "def make(n: int = 4)") == of_names("make") | of_bodies("make")
    assert changed("def make(n: int", "@decorated\ndef make(n: int") == of_names("make") | of_bodies("make")
    assert of_names("Base", "Net") <= changed("def extra(self", "@property\n    def extra(self")
    assert MODULE in changed("def make(n: int = 2)", "def make(n: int = two())")
    assert MODULE in changed("def make(n: int", "@decorated()\ndef make(n: int")


def test_a_class_is_its_bases_its_statements_and_the_bases_of_those() -> None:
    inside = of_bodies("Base.__init__", "Base.forward", "Base.extra", "Net.forward")
    assert of_names("Base", "Net") | inside <= changed("class Base(nn.Module)", "class Base(Thing)")
    assert of_names("Base", "Net") | inside <= changed('kind: str = "base"', 'kind: str = "other"')
    assert of_names("Base", "Net") | inside <= changed("def extra", "def further")
    found = changed("class Net(Base)", "class Net(Base, Thing)")
    assert of_names("Net") | of_bodies("Net.forward") <= found
    assert not found & (of_names("Base") | of_bodies("Base.forward"))


def test_where_an_import_leads_is_a_part_of_what_speaks_of_it() -> None:
    found = changed("import Thing, helper as _helper", "import Thing, other as _helper")
    assert found == of_names("_helper") | of_bodies("Base.extra") | {IMPORTS}
    found = changed("from .other import Thing,", "from .another import Thing,")
    assert of_names("Thing", "_helper", "Base", "Net") | {IMPORTS} <= found
    assert changed("import os", "import os, sys") == {IMPORTS}
    assert changed("import os\n", "") == of_names("os") | {IMPORTS}


def test_an_import_inside_of_a_body_counts_for_the_name() -> None:
    assert changed("import math", "import cmath as math") == of_names("math") | of_bodies("lone") | {IMPORTS}
    assert of_names("Thing", "Base") <= changed("import math", "from a import Thing")


def test_the_order_of_statements_counts_for_what_they_bind() -> None:
    text = TEXT.replace("import os\n", "import os\nos = None\n")
    assert changed("import os\nos = None\n", "os = None\nimport os\n", text) == of_names("os")


def test_what_the_module_level_runs_is_one_part() -> None:
    assert MODULE in changed(TEXT, f"{TEXT}\nSIZE.attribute = 1\n")
    assert of_names("SIZE", "Base") <= changed(TEXT, f"{TEXT}\nSIZE.attribute = 1\n")
    assert of_names("Base", "Net") <= changed(TEXT, f"{TEXT}\nBase.forward = make\n")
    assert of_names("SIZE", "LIMIT") <= changed(TEXT, f"{TEXT}\nwith open(SIZE) as SIZE: pass\n")
    assert changed(TEXT, f"{TEXT}\nregister(unknown)\n") == {MODULE}
    assert changed(TEXT, f"{TEXT}\nTHIRD = make(3)\n") == {MODULE}
    assert changed(TEXT, f"{TEXT}\nTHIRD = SIZE\n") == {MODULE}
    assert MODULE in changed("now = None", "now = lone")


def test_bodies_of_one_name_are_one_part() -> None:
    text = TEXT.replace("else:\n    now = None", "else:\n    def now():\n        return None")
    assert changed("        return None", "        return 1", text) == of_bodies("now")
    assert changed("return torch.accelerator.current", "return torch.accelerator.other", text) == of_bodies("now")


def test_a_body_on_the_line_of_its_header_is_a_part_of_its_name() -> None:
    text = TEXT + "\n\ndef lone(): return 1\n"
    assert changed("def lone(): return 1", "def lone(): return 2", text) == of_names("lone") | of_bodies("lone")


def test_statements_that_share_a_line_are_one() -> None:
    text = TEXT.replace("UNUSED = None", "UNUSED = None; absent = 1; import math")
    assert of_names("UNUSED", "absent", "math") <= changed("absent = 1", "absent = 2", text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (TEXT, f"{TEXT}\nargs = lone().parse_args()\n"),
        ("return math.pi", "torch.set_default_device(0)"),
        ("from .more import *", "from .less import *"),
        ("return math.pi", "from .less import *"),
        (TEXT, TEXT + "\nno python\n"),
    ],
)
def test_signs_are_parts_of_everything(old: str, new: str) -> None:
    assert changed(old, new) == ALL - {PROGRAM}


def test_a_main_guard_is_a_part_of_everything_where_it_changes_the_role() -> None:
    guarded = f'{TEXT}\nif __name__ == "__main__":\n    lone()\n'
    assert changed(TEXT, guarded) == {MODULE}, "with relative imports it stays a library"
    before, after = (fingerprints_of(text.replace("import os\n", "import argparse\n")) for text in (TEXT, guarded))
    assert all(before.of([part]) != after.of([part]) for part in ALL)


def test_the_types_that_a_docstring_states_are_a_part_of_its_definition() -> None:
    text = TEXT.replace('"""Makes."""', '"""Makes.\n\n    Args:\n        n (int): how many\n    """')
    assert changed("n (int): how many", "n (torch.Tensor): how many", text) == of_bodies("make")
    assert changed("n (int): how many", "n (int): as many: all", text) == set()
    assert changed("(int): how", "(int) how", text) == of_bodies("make")
    of_class = TEXT.replace('"""A base."""', '"""A base.\n\n    :param int size: of it\n    """')
    assert of_names("Base", "Net") | of_bodies("Base.__init__") <= changed("param int", "param float", of_class)


def _changes(part: str, old: str, new: str) -> bool:
    assert old in TEXT, old
    return fingerprints_of(TEXT).of([part]) != fingerprints_of(TEXT.replace(old, new, 1)).of([part])


def test_names_of_classes_are_those_that_are_defined_and_imported() -> None:
    assert _changes(CLASS_NAMES, "import Thing,", "import Other,")
    assert _changes(CLASS_NAMES, "def make(", "def Make(")
    assert _changes(CLASS_NAMES, "class Net(Base):", "class Nets(Base):")
    assert _changes(CLASS_NAMES, "now = None", "class Late: pass")
    assert not _changes(CLASS_NAMES, "UNUSED = None", "UNUSED = OTHER = None")
    assert not _changes(CLASS_NAMES, "class Net(Base):", "class Net(Thing):")
    assert not _changes(CLASS_NAMES, "import os", "import os, sys")


def test_classes_are_what_stands_for_their_names() -> None:
    assert _changes(CLASSES, "class Net(Base):", "class Net(Thing):")
    assert _changes(CLASSES, "def extra(self, x:", "def extra(self, y:")
    assert _changes(CLASSES, "return x * self.scale", "self.kept = x")
    assert _changes(CLASSES, "from .other import Thing", "from .another import Thing")
    assert _changes(CLASSES, "now = None", "class Late: pass")
    assert not _changes(CLASSES, "return x * self.scale", "return x")
    assert not _changes(CLASSES, "def lone():", "def lone(n):")


def test_which_definitions_mention_an_attribute_is_a_part() -> None:
    scale = attribute_part("scale")
    assert _changes(scale, "return _helper(x)", "return self.scale")
    assert _changes(scale, "return x * self.scale", "return x")
    assert not _changes(scale, "return x * self.scale", "return x + self.scale")
    assert not _changes(scale, "return _helper(x)", "return self.table")


def test_whether_a_name_stands_there_once_is_a_part() -> None:
    once = only_mention_part("lone")
    assert _changes(once, "UNUSED = None", "UNUSED = lone()")
    assert _changes(once, "    import math", "    lone()")
    assert not _changes(once, "def make(n: int = 2):", "def make(n: int = 3):")


def test_which_definitions_call_a_private_name_is_a_part() -> None:
    helper = calls_part("_helper")
    assert _changes(helper, "return x * self.scale", "return _helper(x)")
    assert _changes(helper, "return x * self.scale", "return self._helper(x)")
    assert _changes(helper, "return _helper(x)", "return x")
    assert not _changes(helper, "return _helper(x)", "return _helper(x + 1)"), "the body is a part of its own"
    assert not _changes(helper, "return x * self.scale", "return _helper")
    assert not _changes(helper, "UNUSED = None", "UNUSED = _helper(1)")


def test_what_may_bind_a_name_is_a_part() -> None:
    absent = binding_part("absent")
    assert _changes(absent, "UNUSED = None", "absent = None")
    assert _changes(absent, "import math", "import math as absent\n    global absent")
    assert _changes(absent, "def inner(y)", "def absent(y)")
    assert _changes(absent, "    import math", "    class absent: pass")
    assert _changes(absent, "return math.pi", "return exec('absent = 1')")
    assert not _changes(absent, "return math.pi", "return absent")
    assert not _changes(absent, "UNUSED = None", "OTHER = None")


def test_of_a_file_without_torch_every_part_counts() -> None:
    text = "import os\nfrom .other import helper\n\n\ndef f():\n    from .more import g\n    return g()\n"
    before, after = fingerprints_of(text), fingerprints_of(text.replace("return g()", "return 1"))
    assert before.of([body_part("f")]) != after.of([body_part("f")])
    assert before.of([name_part("helper")]) == after.of([name_part("helper")])
    other = fingerprints_of(text.replace("import g", "import h as g"))
    assert before.of([name_part("g")]) != other.of([name_part("g")])


def test_what_cannot_be_read_has_no_fingerprints() -> None:
    assert program_of("x = '\0'") is None
    assert program_of("x = " + "(" * 300 + ")" * 300 + "\n" + "y = 1\n") is None


def test_a_text_that_ast_refuses_is_one_part() -> None:
    text = TEXT + "\nprint 'x'\n"
    before, after = fingerprints_of(text), fingerprints_of(text.replace("# apart", "# another"))
    assert all(before.of([part]) != after.of([part]) for part in ALL)


def test_parts_together_are_told_in_no_order() -> None:
    facts, other = fingerprints_of(TEXT), fingerprints_of(TEXT.replace("SIZE = 3", "SIZE = 4"))
    parts = [name_part("make"), body_part("lone"), name_part("SIZE")]
    assert facts.of(parts) == facts.of(parts[::-1])
    assert facts.of(parts) != other.of(parts)
    assert facts.of(parts[:2]) == other.of(parts[:2])


def test_names_are_compared_as_python_compares_them() -> None:
    text = TEXT + "\n\ndef user(x: \ufb01x): ...\n\n\nclass fix: ...\n"
    before, after = fingerprints_of(text), fingerprints_of(text.replace("class fix: ...", "class fix(Base): ..."))
    assert before.of([name_part("user")]) != after.of([name_part("user")])


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_of_every_kind(end: str) -> None:
    text = TEXT.replace("\n", end)
    before, after = fingerprints_of(text), fingerprints_of(text.replace("return x * self.scale", "return x"))
    found = {part for part in ALL - {PROGRAM} if before.of([part]) != after.of([part])}
    assert found == of_bodies("Base.forward")
