"""What the README says is what happens."""

from __future__ import annotations

import itertools
import re
import shlex
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import yaml

from devlint.configuration.configfile import KEYS, read_config
from devlint.source import deadline, gate, globs, reading
from tests.cli.conftest import environment

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.M | re.S)


def devlint(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "devlint", *arguments],
        cwd=directory, env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_example_prints_what_is_shown(tmp_path: Path) -> None:
    program, shown = blocks("python")[0], blocks("text")[0]
    (tmp_path / "net.py").write_text(program)
    assert devlint(tmp_path, "net.py").stdout.startswith(shown)


def test_the_repair_of_the_example_is_clean(tmp_path: Path) -> None:
    repaired = re.search(r"With `(torch\.zeros\(.*?device=x\.device\))` it has nothing to say", README)
    assert repaired is not None
    program = blocks("python")[0].replace("torch.zeros(1, x.size(1), 16)", repaired[1])
    assert repaired[1] in program
    (tmp_path / "net.py").write_text(program)
    assert devlint(tmp_path, "net.py").returncode == 0


def test_a_line_is_explained_as_shown(tmp_path: Path) -> None:
    (shown,) = [block for block in blocks("text") if block.startswith("net.py:12\n")]
    (tmp_path / "net.py").write_text(blocks("python")[0])
    assert devlint(tmp_path, "explain", "net.py:12").stdout == shown


RUNS = [block for block in blocks("sh") if re.search(r"^devlint confirm\b", block, re.M)]
SESSIONS = [block for block in blocks("sh") if re.search(r"^devlint\b", block, re.M) and block not in RUNS]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with the files that the commands name, and a branch to compare with."""
    for name in ("net.py", "train.py", "src/net.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(blocks("python")[0])
    for command in (
        "init -q -b main",
        "add .",
        "-c user.name=me -c user.email=me@example.org commit -qm start",
        "update-ref refs/remotes/origin/main HEAD",
    ):
        subprocess.run(["git", *command.split()], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.parametrize(
    "session", SESSIONS, ids=[block.split("#")[0].strip().replace("\n", "; ")[:40] for block in SESSIONS]
)
def test_every_command_does_what_it_is_there_for(project: Path, session: str) -> None:
    (project / "devlint").write_text(f'#!/bin/sh\nexec {sys.executable} -m devlint "$@"\n')
    (project / "devlint").chmod(0o755)
    env = environment()
    env["PATH"] = f"{project}:{env['PATH']}"
    for line in session.splitlines():
        command = re.split(r"(?:^|\s+)#", line)[0].strip()
        if command.startswith("devlint"):
            done = subprocess.run(
                command, shell=True, cwd=project, env=env, capture_output=True, text=True, check=False, timeout=120
            )
            assert done.returncode in (0, 1), (command, done.stderr)
            assert "Traceback" not in done.stderr, (command, done.stderr)


def test_every_command_of_devlint_is_among_those_that_are_run() -> None:
    shown = [block for block in blocks("sh") if "devlint" in block and not re.search(r"pip install|^pytest", block)]
    assert len(shown) == len(SESSIONS) + len(RUNS)


def test_the_baseline_commands_work_one_after_the_other(tmp_path: Path) -> None:
    (commands,) = [block for block in blocks("sh") if "devlint baseline prune" in block]
    (tmp_path / "net.py").write_text(blocks("python")[0])
    assert devlint(tmp_path).returncode == 1
    for line in commands.splitlines():
        done = devlint(tmp_path, *line.split("#")[0].split()[1:])
        assert done.returncode == 0, (line, done.stdout, done.stderr)
    assert "1 known finding" in devlint(tmp_path, "baseline", "show").stderr


def test_a_run_confirms_the_example_as_shown(project: Path) -> None:
    (commands,) = RUNS
    (shown,) = [block for block in blocks("text") if "= confirmed:" in block]
    told, by_itself = (devlint(project, *shlex.split(line, comments=True)[1:]) for line in commands.splitlines())
    assert (told.returncode, by_itself.returncode) == (1, 1)
    assert shown in told.stdout
    assert "= confirmed: on cuda:0 (simulated) by net:Net" in by_itself.stdout
    (entries,) = [block for block in blocks("toml") if "[[tool.devlint.entries]]" in block]
    (project / "pyproject.toml").write_text(entries)
    assert read_config(project / "pyproject.toml") is not None


def test_tests_for_the_cpu_find_the_example(project: Path) -> None:
    assert "pytest --devlint\n" in blocks("sh")
    installed = any(entry.name == "devlint" for entry in entry_points(group="pytest11"))
    loaded = () if installed else ("-p", "devlint.pytest_plugin")
    (project / "test_net.py").write_text(
        "import torch\nfrom net import Net\n\ndef test_shape():\n"
        "    assert Net()(torch.zeros(5, 3, 8)).shape == (5, 3, 16)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *loaded, "--devlint", "-p", "no:cacheprovider"],
        cwd=project, env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "1 passed" in done.stdout
    assert "confirmed: on cuda:0 (simulated) by test_net.py::test_shape" in done.stdout


def test_places_on_the_page_that_it_refers_to_exist() -> None:
    titles = {
        re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in re.findall(r"^## (.*)$", README, re.M)
    }
    assert set(re.findall(r"\]\(#([\w-]+)\)", README)) <= titles


def test_the_bounds_on_the_pages_are_those_of_the_code() -> None:
    rows = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", README.split("there are bounds.")[1].split("## ")[0], re.M))
    mib = 1024 * 1024
    assert rows["a file of Python"] == f"{reading.MAX_BYTES // mib} MiB"
    assert rows["a notebook"] == f"{reading.MAX_NOTEBOOK_BYTES // mib} MiB, its code {reading.MAX_BYTES // mib} MiB"
    assert rows["brackets inside of brackets"].startswith(f"{gate.MAX_BRACKET_DEPTH},")
    assert rows["one expression between two commas"].startswith(f"{gate.MAX_EXPRESSION_TOKENS:,} tokens:")
    assert rows["one file with all that it asks of others"] == f"{deadline.SECONDS:g} s of processor time"
    assert (
        rows["a configuration, an ignore file, an `@file` of arguments"] == f"{reading.MAX_SETTINGS_BYTES // mib} MiB"
    )
    patterns = f"{globs.MAX_WILDCARDS:,}, of {globs.MAX_WILD_CHARACTERS:,} characters together"
    assert rows["patterns with wildcards in one ignore file"] == patterns
    promised = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    same = [f"{reading.MAX_BYTES // mib} MiB", f"notebook {reading.MAX_NOTEBOOK_BYTES // mib} MiB"]
    same += [f"{gate.MAX_BRACKET_DEPTH} nested brackets", f"{gate.MAX_EXPRESSION_TOKENS:,} tokens of one expression"]
    for bound in (*same, f"{deadline.SECONDS:g} s of processor time"):
        assert bound in " ".join(promised.split()), bound


def test_the_configuration_is_accepted_and_every_key_named(tmp_path: Path) -> None:
    (shown,) = [block for block in blocks("toml") if "[tool.devlint]" in block]
    (tmp_path / "pyproject.toml").write_text(shown)
    config = read_config(tmp_path / "pyproject.toml")
    assert config is not None
    for key in KEYS:
        assert re.search(rf"\b{key}\b", README), key


def test_the_program_that_calls_devlint_runs(tmp_path: Path) -> None:
    (program,) = [block for block in blocks("python") if "lint_paths" in block]
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "net.py").write_text("import torch\nx = torch.ones(3)\nx.cuda()\n")
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("src/net.py 3:1 DEV201 ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_set_up_as_shown(shell: str) -> None:
    assert f"_DEVLINT_COMPLETE={shell}_source devlint" in README


def test_both_hooks_are_as_pre_commit_wants_them() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert [hook["id"] for hook in hooks] == ["devlint", "devlint-fix"]
    for hook in hooks:
        assert hook["entry"].startswith("devlint --force-exclude")
        assert hook["language"] == "python"
        assert hook["types_or"] == ["python", "pyi", "jupyter"]
        assert hook["require_serial"] is True
        assert hook["minimum_pre_commit_version"] == "2.9.2"
    link = ROOT / "pre-commit-hooks.yaml"
    assert link.read_bytes() == (ROOT / ".pre-commit-hooks.yaml").read_bytes()


def test_the_hooks_environment_has_no_torch() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert not any(requirement.startswith("torch") for requirement in project["dependencies"])
    assert {re.split(r"[<>=]", requirement)[0] for requirement in project["dependencies"]} == {
        "libcst", "click", "rich",
    }  # fmt: skip


def _ci_block(name: str) -> list[str]:
    block = re.search(rf"^<!-- ci: {name} -->\n```sh\n([^`]+)```$", README, re.M)
    assert block is not None
    return block[1].splitlines()


@pytest.mark.parametrize("name", ["install", "test"])
def test_ci_finds_its_commands(name: str) -> None:
    assert _ci_block(name)[0].startswith("pip install ")


def test_the_gate_runs_every_test_once() -> None:
    traced, rest = (shlex.split(line) for line in _ci_block("test") if line.startswith("pytest "))
    folders = [word for word in traced if word.startswith("tests/")]
    assert folders
    assert all((ROOT / folder).is_dir() for folder in folders)
    assert [after for word, after in itertools.pairwise(rest) if word == "--ignore"] == folders
    assert not any(word.startswith("tests") for word in rest if word not in folders)
