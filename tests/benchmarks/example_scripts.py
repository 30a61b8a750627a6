"""Example scripts that nobody here wrote, under ``devlint confirm --script`` on simulated devices.

    python tests/benchmarks/example_scripts.py --mirrors DIR        every script of example_scripts/scripts.jsonl
    python tests/benchmarks/example_scripts.py mnist "cleanrl dqn"  only those that begin so
    ... --fresh           run again what ran already; else it is kept in the cache
    ... --kept            only those that ran already
    ... --verbose         what was said of each, and why others did not run

A line of the table is a script at one commit, its arguments, and what else it needs to be small: constants that are
set to others, a folder of words. Pictures come out of example_scripts/faked, which stands for torchvision. A script
*ran* if it came to its end on the device asked for and on a second one beside the current; *false* are the confirmed
findings that explained.jsonl has no reason for.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from commits import Commits, Unavailable
from own_tests.environments import NotMade, python_of
from own_tests.projects import Project
from own_tests.running import DEVLINT
from own_tests.trees import whole_tree
from verdicts import markdown_table, text_table

HERE = Path(__file__).parent / "example_scripts"
CACHE = Path.home() / ".cache" / "devlint-benchmarks-run"
NEEDS = (
    "gymnasium tyro tensorboard fire tqdm pandas scipy scikit-learn matplotlib pytorch-ignite skorch lightning "
    "torchmetrics einops einx loguru trampoline boltons tabulate torch-einops-utils numpydoc"
)
HEAD = ["script", "repository", "ran on", "seconds", "confirmed", "explained", "false"]


@dataclass(frozen=True)
class Script:
    """A script, and what makes it small."""

    name: str
    repo: str
    commit: str
    path: str
    arguments: str = ""
    edits: dict[str, str] = field(default_factory=dict)
    """Texts of the script, each there once, and what stands for them."""
    words: str = ""
    """A directory in which train.txt, valid.txt and test.txt are made."""


@dataclass(frozen=True)
class Ran:
    """What came of it."""

    states: tuple[str, ...]
    """Of each run: its device, and how it ended."""
    seconds: float
    findings: tuple[dict[str, Any], ...]
    """What was confirmed."""
    trouble: str = ""


def scripts(table: Path = HERE / "scripts.jsonl") -> list[Script]:
    """Raises ValueError naming the line of a record that is no script."""
    found = []
    for number, line in enumerate(table.read_text("utf-8").splitlines(), 1):
        try:
            found.append(Script(**json.loads(line)))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{table}:{number}: not a script: {error}") from None
    return found


def explained(table: Path = HERE / "explained.jsonl") -> dict[tuple[str, str, int], str]:
    """By script, path and line of a finding: why it is so."""
    records = [json.loads(line) for line in table.read_text("utf-8").splitlines()]
    return {(record["script"], record["path"], record["line"]): record["why"] for record in records}


def set_up(script: Script, tree: Path) -> None:
    """Raises ValueError where an edit fits nowhere or twice."""
    file = tree / script.path
    text = file.read_text("utf-8")
    for before, after in script.edits.items():
        if text.count(before) != 1:
            raise ValueError(f"{script.name}: {before!r} is there {text.count(before)} times")
        text = text.replace(before, after)
    file.write_text(text, "utf-8")
    if script.words:
        (tree / script.words).mkdir(parents=True, exist_ok=True)
        for name in ("train", "valid", "test"):
            words = "".join(f"one two three w{number % 30} .\n" for number in range(160))
            (tree / script.words / f"{name}.txt").write_text(words, "utf-8")


def run(script: Script, commits: Commits, python: Path, seconds: float) -> Ran:
    """Raises Unavailable."""
    source = whole_tree(commits, script.repo, script.commit)
    with tempfile.TemporaryDirectory(prefix="example-script-") as scratch:
        tree = Path(scratch) / "tree"
        shutil.copytree(source, tree, symlinks=True)
        set_up(script, tree)
        file = tree / script.path
        command = [
            str(python), "-m", "devlint", "confirm", file.name, "--script", file.name, "--device", "sim",
            "--placements", "first,second", "--isolated", "--timeout", str(seconds), "--output-format", "json",
            "--", *script.arguments.split(),
        ]  # fmt: skip
        paths = [str(file.parent), str(tree), str(tree / "src"), str(HERE / "faked"), str(DEVLINT)]
        quiet = {"OMP_NUM_THREADS": "1", "MPLBACKEND": "agg", "WANDB_MODE": "disabled", "HF_HUB_OFFLINE": "1"}
        environment = {"PATH": os.environ["PATH"], "HOME": scratch, "PYTHONPATH": os.pathsep.join(paths), **quiet}
        start = time.monotonic()
        done = subprocess.run(command, cwd=file.parent, env=environment, capture_output=True, text=True, check=False)
        took = time.monotonic() - start
    try:
        document = json.loads(done.stdout)
    except ValueError:
        return Ran((), took, (), (done.stderr.strip().splitlines() or ["devlint said nothing"])[-1][:300])
    states = tuple(f"{entry['device']} {entry['state']}" for entry in document["entries"])
    trouble = "; ".join(entry["reason"] for entry in document["entries"] if entry["reason"])
    confirmed = [one for one in document["findings"] if (one["verdict"] or {}).get("state") == "confirmed"]
    return Ran(states, took, tuple(confirmed), trouble[:300])


def kept_or_run(script: Script, commits: Commits, options: argparse.Namespace) -> Ran:
    kept: Path = options.cache / "scripts" / f"{script.name}.json"
    if kept.is_file() and not options.fresh:
        record = json.loads(kept.read_text("utf-8"))
        return Ran(**record | {"states": tuple(record["states"]), "findings": tuple(record["findings"])})
    try:
        ran = run(script, commits, python_of(Project("example-scripts", tuple(NEEDS.split())), options.cache / "envs"),
                  options.seconds)  # fmt: skip
    except (NotMade, Unavailable, ValueError) as error:
        return Ran((), 0.0, (), str(error))
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(asdict(ran), indent=1), "utf-8")
    return ran


def row_of(script: Script, ran: Ran, known: dict[tuple[str, str, int], str]) -> list[str]:
    whole = [state.split()[0] for state in ran.states if state.endswith(" ran")]
    reasons = [(script.name, finding["path"], finding["line"]) in known for finding in ran.findings]
    on = " and ".join(whole) if whole and len(whole) == len(ran.states) else ran.trouble or "; ".join(ran.states)
    counts = (len(reasons), sum(reasons), len(reasons) - sum(reasons))
    return [script.name, script.repo, on[:60], f"{ran.seconds:.0f}", *map(str, counts)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only the scripts whose name begins so")
    parser.add_argument("--mirrors", type=Path, metavar="DIR", help="clones of the repositories; nothing is downloaded")
    parser.add_argument("--cache", type=Path, default=CACHE, help="[default: %(default)s]")
    parser.add_argument("--seconds", type=float, default=300, help="for each run [default: 300]")
    parser.add_argument("--fresh", action="store_true", help="run again what ran already")
    parser.add_argument("--kept", action="store_true", help="only the scripts that ran already")
    parser.add_argument("--markdown", action="store_true", help="the table as it stands in texts")
    parser.add_argument("--verbose", action="store_true", help="every finding")
    options = parser.parse_args()
    commits, known, rows = Commits(options.cache, options.mirrors), explained(), []
    for script in scripts():
        chosen = not options.names or any(script.name.startswith(name) for name in options.names)
        kept = (options.cache / "scripts" / f"{script.name}.json").is_file()
        if not chosen or (options.kept and not kept):
            continue
        ran = kept_or_run(script, commits, options)
        rows.append(row_of(script, ran, known))
        print(" | ".join(rows[-1]), ran.trouble, file=sys.stderr, flush=True)
        for finding in ran.findings if options.verbose else ():
            why = known.get((script.name, finding["path"], finding["line"]), "not explained")
            print(f"  {finding['path']}:{finding['line']} {finding['code']} {finding['message'][:200]}\n    {why}")
    whole = [row for row in rows if row[2].startswith("cuda") and ";" not in row[2]]
    sums = [str(sum(int(row[column]) for row in rows)) for column in (3, 4, 5, 6)]
    rows.append(["all", "", f"{len(whole)} of {len(rows)}", *sums])
    print((markdown_table if options.markdown else text_table)([HEAD, *rows]))


if __name__ == "__main__":
    main()
