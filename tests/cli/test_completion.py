"""Shell completion: click's scripts with devlint's answers, asked as the scripts ask."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import environment


def answers(shell: str, *words: str) -> list[str]:
    """What a shell's script is told for a command line whose last word is being typed; bash separates by commas."""
    typed = " ".join(words)
    index = words[-1] if shell == "fish" else str(len(words) - 1)
    env = environment(_DEVLINT_COMPLETE=f"{shell}_complete", COMP_WORDS=typed, COMP_CWORD=index)
    command = [sys.executable, "-m", "devlint"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("devlint", "ru"), ["file,ru", "plain,rule"]),
        (("devlint", "--sel"), ["plain,--select"]),
        (("devlint", "check", "--sel"), ["plain,--select"]),
        (("devlint", "net.py", "--min-s"), ["plain,--min-severity"]),
        (("devlint", "--min-severity", "w"), ["plain,warning"]),
        (("devlint", "rule", "dev90"), ["plain,DEV900", "plain,DEV901", "plain,DEV902"]),
        (("devlint", "rule", "unread"), ["plain,unreadable-file"]),
        (("devlint", "--select", "DEV1,DEV902"), ["plain,DEV1,DEV902"]),
        (("devlint", "--statistics", "sr"), ["file,sr"]),
    ],
)
def test_what_is_offered(words: tuple[str, ...], offered: list[str]) -> None:
    assert answers("bash", *words) == offered


def test_nothing_typed_offers_the_commands() -> None:
    assert {"plain,check", "plain,rule"} <= set(answers("bash", "devlint", ""))


def test_zsh_and_fish_are_told_what_an_answer_means() -> None:
    assert answers("zsh", "devlint", "rule", "DEV902") == ["plain", "DEV902", "unreadable-file"]
    assert answers("fish", "devlint", "rule", "DEV902") == ["plain,DEV902\tunreadable-file"]


@pytest.mark.parametrize(("shell", "marker"), [("bash", "complete -o nosort"), ("zsh", "#compdef devlint"),
                                               ("fish", "complete --no-files --command devlint")])  # fmt: skip
def test_each_shell_has_its_script(shell: str, marker: str) -> None:
    env = environment(_DEVLINT_COMPLETE=f"{shell}_source")
    done = subprocess.run([sys.executable, "-m", "devlint"], env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert marker in done.stdout


def test_the_script_works_in_bash(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash")
    program = tmp_path / "devlint"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m devlint "$@"\n')
    program.chmod(0o755)
    script = (
        'eval "$(_DEVLINT_COMPLETE=bash_source devlint)"\n'
        "complete -p devlint\n"
        "COMP_WORDS=(devlint --output-format s) COMP_CWORD=2\n"
        '_devlint_completion devlint\necho "${COMPREPLY[@]}"\n'
    )
    env = environment()
    env["PATH"] = f"{tmp_path}:{env['PATH']}"
    done = subprocess.run([bash, "--norc", "-c", script], env=env, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["complete -o nosort -F _devlint_completion devlint", "sarif"]
