"""The gate in a day's work: main has known findings; a branch adds one bug, moves three, repairs one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from devlint.cli.main import run
from devlint.configuration.configfile import OUTPUT_FORMATS
from tests.gate.conftest import Repo
from tests.gate.test_baseline_file import MALFORMED

BASELINE = ".devlint-baseline.json"
KNOWN = ("alpha", "beta", "gamma", "delta", "epsilon")


def bug(name: str, function: str = "") -> str:
    """A function with one DEV201, whose message names the function's argument."""
    return f"\n\ndef {function or f'move_{name}'}({name}: torch.Tensor):\n    {name}.cuda()\n    return {name} + 1\n"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """The repository, with the branch checked out. Its baseline was written on main."""
    repo = Repo.make(
        tmp_path_factory.mktemp("demo") / "repo",
        {
            "pyproject.toml": '[project]\nname = "demo"\n',
            "demo/__init__.py": "",
            "demo/net.py": "import torch\n" + bug("alpha") + bug("beta") + bug("delta"),
            "demo/train.py": "import torch\n" + bug("gamma") + bug("epsilon"),
        },
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(repo.root)
        assert run(["baseline", "write", "-q"]) == 0
    repo.commit()
    repo.branch("feature")
    filler = "".join(f"\n\ndef step_{number}():\n    return {number}\n" for number in range(20))
    repo.git("mv", "demo/train.py", "demo/training.py")
    repo.commit(
        **{
            # beta is repaired, alpha has moved down under another name and in another layout,
            "demo/net.py": "import torch\n" + filler + bug("alpha", "renamed").replace(".cuda()", ".cuda(\n    )"),
            # delta has moved into a new file, gamma and epsilon with their file, and omega is new.
            "demo/transfers.py": "import torch\n" + bug("delta"),
            "demo/training.py": "import torch\n" + bug("gamma") + bug("epsilon"),
            "demo/added.py": "import torch\n" + bug("omega"),
        }
    )
    return repo


WAYS = {
    "baseline": ["--baseline", BASELINE],
    "diff-base": ["--diff-base", "main"],
    "both": ["--baseline", BASELINE, "--diff-base", "main"],
}


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


@pytest.fixture
def devlint(demo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.chdir(demo.root)
    for name in ("GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE", "COLUMNS", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def start(*arguments: str) -> Outcome:
        code = run([*arguments, "--color", "never"])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return start


def test_without_the_gate_five_are_shown(devlint: Any) -> None:
    done = devlint("--output-format", "concise")
    assert done.code == 1
    assert len(done.out.splitlines()) == 5
    assert "beta" not in done.out


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("output_format", OUTPUT_FORMATS)
def test_exactly_the_new_finding_is_reported(devlint: Any, way: str, output_format: str) -> None:
    done = devlint(*WAYS[way], "--output-format", output_format)
    assert done.code == 1
    assert "omega.cuda()" in done.out
    assert "demo/added.py" in done.out
    for name in KNOWN:
        assert name not in done.out, name
    if output_format == "json":
        document = json.loads(done.out)
        assert [finding["path"] for finding in document["findings"]] == ["demo/added.py"]
        assert document["summary"]["baselined"] == (0 if way == "diff-base" else 4)
    if output_format == "concise":
        assert done.out.startswith("demo/added.py:5:5: DEV201 warning")
        assert len(done.out.splitlines()) == 1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("output_format", OUTPUT_FORMATS)
def test_without_the_new_bug_the_gate_is_open_in_every_format(devlint: Any, way: str, output_format: str) -> None:
    done = devlint(*WAYS[way], "--output-format", output_format, "--extend-exclude", "demo/added.py")
    assert done.code == 0
    for name in (*KNOWN, "omega"):
        assert name not in done.out, name


def test_what_was_repaired_is_told_and_can_be_pruned(devlint: Any, demo: Repo, tmp_path: Path) -> None:
    done = devlint("--baseline", BASELINE)
    told = "1 entry stands for no finding any more; `devlint baseline prune` removes it"
    assert done.err == f"devlint: {BASELINE}: {told}\n"
    copy = tmp_path / "known.json"
    copy.write_bytes((demo.root / BASELINE).read_bytes())
    done = devlint("baseline", "prune", "--baseline", str(copy))
    assert done.code == 0
    assert done.err.endswith("1 of 5 entries removed, 4 followed to where the code is now\n")
    kept = copy.read_text()
    assert ["beta" in kept, "omega" in kept] == [False, False]
    assert devlint("--baseline", str(copy)).err == ""


@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_baseline_is_2_with_one_clear_line(devlint: Any, demo: Repo, tmp_path: Path, case: str) -> None:
    content, complaint = MALFORMED[case]
    file = tmp_path / "known.json"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    for arguments in ([], ["baseline", "prune"], ["baseline", "write"], ["baseline", "show"]):
        done = devlint(*arguments, "--baseline", str(file))
        assert (done.code, done.out) == (2, "")
        (line,) = done.err.splitlines()
        assert complaint in line
        assert file.read_bytes() == (content if isinstance(content, bytes) else content.encode())


CONFIGURATIONS = {
    "no TOML": ("select = [\n", "devlint.toml:1: not valid TOML"),
    "an unknown key": ("selekt = ['DEV1']\n", "devlint.toml:1: unknown key `selekt`; did you mean `select`"),
    "an unknown code": ("\nselect = ['DEV888']\n", "devlint.toml:2: `select`: unknown code `DEV888`"),
    "a wrong type": ("force-exclude = 'yes'\n", "devlint.toml:1: `force-exclude` must be true or false, not 'yes'"),
    "a wrong word": ("min-severity = 'high'\n", "devlint.toml:1: `min-severity` must be"),
    "a list of numbers": ("exclude = [1]\n", "devlint.toml:1: `exclude` must be a list of globs, not [1]"),
    "a path that is no text": ("baseline = true\n", "devlint.toml:1: `baseline` must be a path, not True"),
    "a baseline that is not there": ("baseline = 'gone.json'\n", "gone.json: no such baseline; `devlint baseline"),
    "a baseline that is a directory": ("baseline = 'demo'\n", "demo: cannot be read: is a directory"),
    "a version from the future": ("required-version = '>=99'\n", "devlint.toml:1: requires devlint >=99, and this is"),
    "nonsense for a version": ("required-version = 'new'\n", "`required-version` 'new' is no version"),
    "a circle": ("extend = 'devlint.toml'\n", "devlint.toml:1: `extend` leads back to"),
}


@pytest.mark.parametrize("case", CONFIGURATIONS)
def test_a_malformed_configuration_is_2_with_one_clear_line(devlint: Any, demo: Repo, case: str) -> None:
    text, complaint = CONFIGURATIONS[case]
    file = demo.root / "devlint.toml"
    file.write_text(text)
    try:
        done = devlint("--diff-base", "main")
    finally:
        file.unlink()
    assert (done.code, done.out) == (2, "")
    (line,) = done.err.splitlines()
    assert complaint in line
