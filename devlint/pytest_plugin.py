"""``pytest --devlint``: existing CPU tests run their models on a simulated accelerator, unchanged.

This module is loaded by every pytest that finds devlint installed, so it imports nothing until it is asked for.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import torch

    from devlint.confirmation.lifted import Report, Sighting
    from devlint.runtime.lifting.arrangement import Arrangement
    from devlint.runtime.lifting.calls import Lifter
    from devlint.runtime.observation import Observation
    from devlint.runtime.session import Machine

MOST_TESTS = 3
"""Tests named beside a finding in the summary; the others are counted."""

_PLUGIN = "devlint-lifting"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("devlint", "device placement (devlint)")
    group.addoption("--devlint", action="store_true", help="run every module's outermost call on an accelerator")
    group.addoption(
        "--devlint-device",
        choices=("sim", "sim:1", "sim-xpu", "sim-mps", "cuda"),
        default="sim",
        help="a simulated cuda:0 (sim), a simulated cuda:1 beside it (sim:1), a simulated accelerator of another kind, "
        "or a real cuda:0",
    )
    group.addoption(
        "--devlint-placement",
        action="append",
        choices=("data", "default", "split", "results"),
        default=[],
        help="where else users have their tensors: what data sets hold on the accelerator (data), that as the default "
        "device (default), the output of their models elsewhere than the input (split), all results where the input is "
        "(results); may be given several times",
    )
    group.addoption("--devlint-report", metavar="FILE", help="write the findings there, as JSON")
    group.addoption("--devlint-warn", action="store_true", help="findings do not fail the run")
    parser.addini("devlint_lift", type="linelist", help="what else to lift: pkg.function, Class.method, pkg.*")
    parser.addini(
        "devlint_stay",
        type="linelist",
        help="what stays on the CPU: pkg.Class (its objects are not moved), function(argument), (argument)",
    )


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--devlint"):
        return
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise pytest.UsageError(f"--devlint needs torch: {error}; install devlint[runtime]") from None
    from devlint.runtime.real import NoDevice

    try:
        config.pluginmanager.register(Lifting(config), _PLUGIN)
    except NoDevice as error:
        raise pytest.UsageError(f"--devlint-device cuda: {error}; sim simulates one") from None


class Lifting:
    """One run of tests; with xdist one in each worker, and one that gathers."""

    def __init__(self, config: pytest.Config) -> None:
        from devlint.confirmation.test_files import test_files
        from devlint.runtime.lifting.calls import Lifter

        if "split" in config.getoption("--devlint-placement") and not config.getini("devlint_lift"):
            raise pytest.UsageError("--devlint-placement split needs devlint_lift: what calls the models of users")
        self._config = config
        self._is_test = test_files(config.rootpath)
        self._test = ""
        self._more: tuple[tuple[Any, str], ...] | None = None
        self._seen: dict[str, tuple[Observation, dict[str, None]]] = {}
        self._simulated = config.getoption("--devlint-device") != "cuda"
        machine, device = _machine(config.getoption("--devlint-device"))
        self._device = str(device)
        self._lifter: Lifter = Lifter(self._observed, machine, device, self._is_test)
        self._counts: dict[str, Any] = {"lifted": 0, "tests": 0, "not_lifted": {}, "only_lifted": {}}
        self._repeating = False
        self._report: Report | None = None

    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """A test that fails with its calls lifted is repeated without: its own result is what it is without devlint."""
        from _pytest.runner import runtestprotocol

        if self._config.getoption("reruns", None):
            return None  # somebody else repeats tests
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        before = self._lifter.lifted
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        failed = next((report for report in reports if report.failed), None)
        if failed is not None and self._lifter.lifted > before:
            self._repeating = True
            try:
                reports = runtestprotocol(item, log=False, nextitem=nextitem)
            finally:
                self._repeating = False
            if not any(report.failed for report in reports):
                self._counts["only_lifted"][item.nodeid] = _why(failed)
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        if self._repeating:
            return (yield)
        self._test = item.nodeid
        before = self._lifter.lifted
        if self._more is None:
            self._more = _targets(self._config.getini("devlint_lift"), self._is_test)
            self._lifter.arrangement = _arrangement(self._config)
        with self._lifter.active(self._more):
            result = yield
        self._counts["tests"] += self._lifter.lifted > before
        return result

    def _observed(self, observation: Observation) -> None:
        from devlint.runtime.observation import to_json

        row = to_json(observation)
        key = json.dumps([row["kind"], row["spots"][:1], row["operation"], [o["born"] for o in row["operands"]]])
        self._seen.setdefault(key, (observation, {}))[1][self._test] = None

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self._counts["lifted"] += self._lifter.lifted
        for reason, number in self._lifter.not_lifted.items():
            self._counts["not_lifted"][reason] = self._counts["not_lifted"].get(reason, 0) + number
        output = getattr(self._config, "workeroutput", None)
        if output is not None:
            output["devlint"] = json.dumps({**self._counts, "seen": self._rows()})
            return
        from devlint.confirmation.lifted import report_on

        self._report = report_on(self._sightings(), self._config.rootpath, self._device, self._simulated)
        self._write()
        if self._report.result.exit_code and not self._config.getoption("--devlint-warn"):
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: Any) -> None:
        """A worker of xdist is done."""
        from devlint.runtime.observation import from_json

        told = json.loads(getattr(node, "workeroutput", {}).get("devlint", "null"))
        if told is None:
            return
        self._counts["lifted"] += told["lifted"]
        self._counts["tests"] += told["tests"]
        for reason, number in told["not_lifted"].items():
            self._counts["not_lifted"][reason] = self._counts["not_lifted"].get(reason, 0) + number
        self._counts["only_lifted"].update(told["only_lifted"])
        for key, row, tests in told["seen"]:
            self._seen.setdefault(key, (from_json(row), {}))[1].update(dict.fromkeys(tests))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        report = self._report
        if report is None:
            return
        from devlint.reports.painting import paint
        from devlint.reports.source_lines import SourceLines
        from devlint.reports.text import text_lines

        counts = self._counts
        terminalreporter.section("devlint")
        root = self._config.rootpath
        for finding in report.result.findings:
            terminalreporter.write(paint(text_lines([finding], SourceLines(root, {}), None), color=False).rstrip("\n"))
            terminalreporter.write_line(f"\n  seen by {_some(report.tests[finding.fingerprint])}\n")
        for line in _summary(counts, report, f"{self._device}{' (simulated)' if self._simulated else ''}"):
            terminalreporter.write_line(line)

    def _rows(self) -> list[Any]:
        from devlint.runtime.observation import to_json

        return [[key, to_json(observation), list(tests)] for key, (observation, tests) in self._seen.items()]

    def _sightings(self) -> list[Sighting]:
        from devlint.confirmation.lifted import Sighting

        return [Sighting(observation, tuple(tests)) for observation, tests in self._seen.values()]

    def _write(self) -> None:
        path = self._config.getoption("--devlint-report")
        if not path or self._report is None:
            return
        from devlint.reports.json_document import json_document

        target = Path(os.path.join(self._config.invocation_params.dir, path))
        try:
            target.write_text(json_document(self._report.result), encoding="utf-8")
        except OSError as error:
            raise pytest.UsageError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from None


def _machine(name: str) -> tuple[Machine, torch.device]:
    """The machine, and which device of it calls are lifted to. Raises NoDevice."""
    import torch

    if name != "cuda":
        from devlint.runtime.placements import parse_device
        from devlint.runtime.simulated import KINDS, SimulatedMachine

        wish = parse_device(name)
        kind = KINDS[wish.kind]
        return SimulatedMachine(min(2, kind.most), kind), torch.device(wish.kind, wish.index)
    from devlint.runtime.real import RealMachine

    return RealMachine("cuda:0"), torch.device("cuda:0")


def _summary(counts: dict[str, Any], report: Report, device: str) -> list[str]:
    from devlint.reports.summary import counted

    found = len(report.result.findings)
    ran = f"{counted(counts['lifted'], 'call')} of modules in {counted(counts['tests'], 'test')} ran on {device}"
    lines = [f"{ran}: {found or 'no'} device-placement problem{'' if found == 1 else 's'} found"]
    reasons = sorted(counts["not_lifted"].items(), key=lambda item: -item[1])
    lines += [f"not lifted: {number} x {reason}" for reason, number in reasons]
    for test, why in counts["only_lifted"].items():
        seen = any(test in tests for tests in report.tests.values())
        lines.append(f"failed only while lifted, and passes without: {test}: {why}{' (see above)' if seen else ''}")
    if report.inconclusive:
        told = "clash" if report.inconclusive == 1 else "clashes"
        lines.append(f"inconclusive: {report.inconclusive} {told} with tensors that came in by another way")
    return lines


def _why(report: pytest.TestReport) -> str:
    """The error and its line, in one line."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is None:
        return str(report.longreprtext).strip().rpartition("\n")[2]
    return f"{crash.message.strip().partition(chr(10))[0]} ({os.path.basename(crash.path)}:{crash.lineno})"


def _some(tests: tuple[str, ...]) -> str:
    shown = ", ".join(tests[:MOST_TESTS])
    return shown + (f" and {len(tests) - MOST_TESTS} more" if len(tests) > MOST_TESTS else "")


def _arrangement(config: pytest.Config) -> Arrangement:
    """What users have where. Raises UsageError."""
    from devlint.runtime.lifting.arrangement import NotArranged, arranged

    try:
        return arranged(config.getoption("--devlint-placement"), config.getini("devlint_stay"))
    except NotArranged as error:
        raise pytest.UsageError(f"devlint_stay: {error}") from None


def _targets(names: list[str], is_test: Callable[[str], bool]) -> tuple[tuple[Any, str], ...]:
    """Owners and attributes of what ``devlint_lift`` names. Raises UsageError."""
    from devlint.runtime.lifting.targets import NoTarget, targets_of

    try:
        return targets_of(names, is_test)
    except NoTarget as error:
        raise pytest.UsageError(f"devlint_lift: {error}") from None
