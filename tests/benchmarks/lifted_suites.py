"""Test suites that nobody here wrote, run as they are and under ``pytest --devlint``.

    python tests/benchmarks/lifted_suites.py [--only gpytorch ...] [--jobs 2] [--keep DIRECTORY] [--mirrors DIR]
    ... --kept            the rows of the suites that ran already

Each suite comes out of its package's source archive, or, those of lifted_suites.jsonl, of its repository at one commit.
It is run twice, in one environment (``DIRECTORY/<package>/env``) beside the torch of this one: plainly, and lifted to
the simulated device. The table says how many tests passed each time, which results differ, how many tests fail only
while they are lifted, how many calls were lifted and how many not, and how much more time of the processor the lifted
run took. The findings are in ``DIRECTORY/<package>/findings.json``, to be read by hand.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

from commits import Commits
from own_tests.code import code_of_runs
from own_tests.environments import python_of
from own_tests.projects import Project
from own_tests.trees import whole_tree
from verdicts import markdown_table


@dataclass(frozen=True)
class Suite:
    """A release, the part of its tests that is run, and all that it needs besides torch and numpy."""

    package: str
    version: str
    tests: tuple[str, ...]
    needs: tuple[str, ...] = ()
    repo: str = ""
    """Where the suite comes from if not from an archive; ``version`` is the commit then."""
    path: tuple[str, ...] = (".",)
    """Directories that it is imported from, where it is not installed."""
    environment: dict[str, str] = field(default_factory=dict)
    """Variables that its tests ask for."""


HEAD = [
    "suite", "tests passed", "lifted", "results that differ", "fail only lifted", "calls lifted", "not lifted",
    "findings", "processor", "clock",
]  # fmt: skip
_TABLE = Path(__file__).with_suffix(".jsonl")
_OWN_PATH = os.environ.get("PYTHONPATH", "")
"""Where devlint itself may come from."""

_NEURALOP = "neuralop/layers/tests"

SUITES = (
    Suite(
        "gpytorch",
        "1.15.2",
        ("test/kernels", "test/likelihoods"),
        (
            "linear_operator==0.6.1",
            "jaxtyping==0.3.11",
            "wadler_lindig==0.1.8",
            "mpmath==1.4.1",
            "scipy==1.17.1",
            "scikit-learn==1.9.1",
            "joblib==1.6.0",
            "cloudpickle==3.1.2",
            "threadpoolctl==3.8.0",
            "narwhals==2.29.0",
        ),
    ),
    # The rest of its tests needs a file that the archive lacks, or takes an hour.
    Suite(
        "neuraloperator",
        "2.0.0",
        (
            f"{_NEURALOP}/test_spectral_convolution.py",
            f"{_NEURALOP}/test_gno_block.py",
            f"{_NEURALOP}/test_fno_block.py",
            f"{_NEURALOP}/test_spectral_projection.py",
            f"{_NEURALOP}/test_grid_embeddings.py",
            f"{_NEURALOP}/test_finite_difference_conv.py",
            "neuralop/models/tests/test_gino.py",
        ),
        (
            "tensorly==0.10.0",
            "tensorly-torch==0.5.0",
            "opt_einsum==3.4.0",
            "scipy==1.17.1",
            "h5py==3.16.0",
            "ruamel.yaml==0.19.1",
            "configmypy==0.2.0",
            "zencfg==1.0.0",
            "wandb==0.31.0",
            "requests",
            "urllib3",
            "certifi",
            "idna",
            "charset-normalizer",
            "packaging",
            "typing_extensions",
        ),
    ),
)


def suites() -> list[Suite]:
    """Those above, and those of the table. Raises ValueError naming the line of a record that is none."""
    found = list(SUITES)
    for number, line in enumerate(_TABLE.read_text("utf-8").splitlines(), 1):
        try:
            record = json.loads(line)
            lists = {name: tuple(record[name].split()) for name in ("tests", "needs", "path") if name in record}
            found.append(Suite(**record | lists))
        except (AttributeError, TypeError, ValueError) as error:
            raise ValueError(f"{_TABLE}:{number}: not a suite: {error}") from None
    return found


@dataclass(frozen=True)
class Outcome:
    """What became of each test, and what the run said of itself."""

    states: dict[str, str]
    said: str
    seconds: float
    """Of the processor."""
    clock: float
    """By the clock, with the start of pytest and of its workers."""

    @property
    def passed(self) -> int:
        return sum(state == "passed" for state in self.states.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("--only", nargs="*", metavar="PACKAGE")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--kept", action="store_true")
    parser.add_argument("--mirrors", type=Path, metavar="DIR")
    options = parser.parse_args()
    where = (options.keep or Path(tempfile.mkdtemp(prefix="lifted-suites-"))).absolute()
    commits = Commits(where, options.mirrors)
    rows = []
    for suite in suites():
        if options.only and suite.package not in options.only:
            continue
        kept = where / suite.package / "row.json"
        if not options.kept:
            row = row_of(suite, where / suite.package, options.jobs, commits)
            kept.write_text(json.dumps(row), "utf-8")
            print(" | ".join(row), file=sys.stderr, flush=True)
        if kept.exists():
            rows.append(json.loads(kept.read_text("utf-8")))
    print(markdown_table([HEAD, *rows]))
    print(f"\nRun with {code_of_runs()}. Findings are in {where}")


def row_of(suite: Suite, directory: Path, jobs: int, commits: Commits) -> list[str]:
    source = prepared(suite, directory, commits)
    plain = run(suite, source, directory, jobs, "plain")
    report = directory / "findings.json"
    lifted = run(suite, source, directory, jobs, "lifted", "--devlint", "--devlint-warn", f"--devlint-report={report}")
    differ = [name for name, state in plain.states.items() if lifted.states.get(name) != state]
    for name in differ:
        print(f"{name}: {plain.states[name]}, lifted {lifted.states.get(name, 'absent')}", file=sys.stderr)
    calls = re.search(r"([\d,]+) calls? of modules in ([\d,]+) tests?", lifted.said)
    refused = sum(int(number) for number in re.findall(r"^not lifted: (\d+) x", lifted.said, re.M))
    only_lifted = len(re.findall(r"^failed only while lifted", lifted.said, re.M))
    findings = len(json.loads(report.read_text())["findings"])
    counts = (plain.passed, lifted.passed, len(differ), only_lifted)
    return [
        f"{suite.package} {suite.version[:12]}",
        *(f"{count:,}" for count in counts),
        calls[1] if calls else "0",
        str(refused),
        str(findings),
        f"{lifted.seconds / plain.seconds:.2f} x {plain.seconds:.0f} s",
        f"{lifted.clock / plain.clock:.2f} x {plain.clock:.0f} s",
    ]


def prepared(suite: Suite, directory: Path, commits: Commits) -> Path:
    """The unpacked source archive, and an environment with the package itself installed; or the tree of a commit."""
    environment, archives = directory / "env", directory / "archives"
    directory.mkdir(parents=True, exist_ok=True)
    if suite.repo:
        return whole_tree(commits, suite.repo, suite.version)
    if not environment.exists():
        packages = (f"{suite.package}=={suite.version}", *suite.needs)
        # Torch and numpy are those of the environment that runs this.
        pip("install", "--no-deps", "--target", str(environment), *packages)
    if not archives.exists():
        pip("download", "--no-deps", "--no-binary", ":all:", "--no-build-isolation", "-d", str(archives),
            f"{suite.package}=={suite.version}")  # fmt: skip
    (archive,) = archives.glob("*.tar.gz")
    source = directory / "source"
    if not source.exists():
        with tarfile.open(archive) as opened:
            opened.extractall(source, filter="data")
    return next(source.iterdir())


def pip(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", "-q", *arguments], check=True)


def run(suite: Suite, source: Path, directory: Path, jobs: int, name: str, *more: str) -> Outcome:
    results = directory / f"{name}.xml"
    results.unlink(missing_ok=True)
    workers = ("-n", str(jobs)) if jobs > 1 else ()
    loaded = ("-p", "devlint.pytest_plugin") if "devlint" not in plugins() else ()
    # The environment of a suite from a repository is a virtual one, over the packages of this one.
    python = python_of(Project(suite.package, suite.needs), directory.parent / "envs") if suite.repo else sys.executable
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={results}"]
    paths = [*(str(source / path) for path in suite.path if suite.repo), str(directory / "env"), _OWN_PATH]
    path = os.pathsep.join(filter(None, paths))
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(
        [*command, *loaded, *workers, *more, *suite.tests],
        cwd=source,
        env={**os.environ, **suite.environment, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    after, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - start
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    (directory / f"{name}.log").write_text(done.stdout + done.stderr)
    if not results.exists():
        raise SystemExit(f"{suite.package} did not run, see {directory / f'{name}.log'}")
    states = {}
    for case in ET.parse(results).iter("testcase"):
        kinds = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
        states[f"{case.get('classname')}.{case.get('name')}"] = kinds[0] if kinds else "passed"
    if "passed" not in states.values():
        raise SystemExit(f"{suite.package}: no test passed, see {directory / f'{name}.log'}")
    return Outcome(states, done.stdout, seconds, clock)


def plugins() -> set[str]:
    from importlib.metadata import entry_points

    return {entry.name for entry in entry_points(group="pytest11")}


if __name__ == "__main__":
    main()
