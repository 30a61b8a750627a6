"""The recorder from outside: what a row did is written down whatever it did, and a run that was stopped goes on."""

from __future__ import annotations

import contextlib
import io
import json
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

import devlint.semantics.record.__main__ as command
from devlint.semantics.record.files import Refused, file_name, open_record, read_record, read_rows, write_rows
from devlint.semantics.record.row import LONGEST, Ended, Row, is_absent, poisons, told

ROOT = Path(__file__).parents[3]


def rows_file(folder: Path, *codes: str, operation: str = "torch.add") -> Path:
    path = folder / "rows.jsonl"
    write_rows(path, {}, [Row(f"k{n}", operation, code, "call", 1) for n, code in enumerate(codes)])
    return path


COMMAND = [sys.executable, "-m", "devlint.semantics.record"]


def record(*arguments: object, device: str = "cpu") -> subprocess.CompletedProcess[str]:
    """Run the command in this process, which has imported torch already. The rows run in processes of their own."""
    given = ["--device", device, *map(str, arguments)]
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        code = command.main(given)
    return subprocess.CompletedProcess(given, code, output.getvalue(), errors.getvalue())


def record_outside(*arguments: object, device: str = "cpu") -> subprocess.CompletedProcess[str]:
    """Run the command as its user does."""
    given = [*COMMAND, "--device", device, *map(str, arguments)]
    return subprocess.run(given, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)


def recorded(path: Path) -> list[Ended]:
    return read_record(path)[1]


def test_a_dry_run_tells_result_error_and_absence(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    write_rows(
        rows,
        {"rows": "three"},
        [
            Row("a", "torch.add", "c.x(2, 3) + h.x(3)", "call", 1),
            Row("b", "torch.add", "torch.add(c.x(2), c.x(3))", "call", 1),
            Row("c", "torch.no_such_thing", "torch.no_such_thing(c.x(2))", "call", 1),
            Row("d", "index", "x = c.x(3); x[h.i(3, 2)] = c.x(2)", "index write", 1),
        ],
    )
    done = record("--rows", rows, "--out", tmp_path / "out.jsonl")
    assert done.returncode == 0, done.stderr
    assert "2 ok, 1 error, 1 absent" in done.stderr
    ok, error, absent, written = recorded(tmp_path / "out.jsonl")
    assert (ok.outcome, ok.devices) == ("ok", ("cpu",))
    assert (error.outcome, error.exception) == ("error", "RuntimeError")
    assert "must match the size" in error.message
    assert absent == Ended("c", "absent")
    assert (written.outcome, written.devices) == ("ok", ())
    header = read_record(tmp_path / "out.jsonl")[0]
    assert {"gpu", "driver", "torch", "date", "cuda", "python"} <= set(header)


def test_after_an_error_of_the_device_the_rest_runs_in_a_new_process(tmp_path: Path) -> None:
    rows = rows_file(
        tmp_path,
        "torch.poison = 1; c.x(2)",
        "raise RuntimeError('CUDA error: device-side assert triggered')",
        "torch.poison",
        "c.x(2)",
    )
    assert record("--rows", rows, "--out", tmp_path / "out.jsonl").returncode == 0
    first, poisoned, fresh, last = recorded(tmp_path / "out.jsonl")
    assert (first.outcome, last.outcome) == ("ok", "ok")
    assert "device-side assert" in poisoned.message
    assert (fresh.outcome, fresh.exception) == ("error", "AttributeError"), "the old process went on"


def test_a_row_that_kills_the_process_costs_only_itself(tmp_path: Path) -> None:
    rows = rows_file(tmp_path, "c.x(2)", "import os; os.kill(os.getpid(), 11)", "import sys; sys.exit(0)", "c.x(3)")
    done = record("--rows", rows, "--out", tmp_path / "out.jsonl")
    assert done.returncode == 0, done.stderr
    assert [e.outcome for e in recorded(tmp_path / "out.jsonl")] == ["ok", "crashed", "crashed", "ok"]
    assert "exit status -11" in recorded(tmp_path / "out.jsonl")[1].message


def test_a_row_that_hangs_is_stopped_at_the_limit(tmp_path: Path) -> None:
    rows = rows_file(tmp_path, "c.x(2)", "import time; time.sleep(600)", "c.x(3)")
    # Without the time torch may take to start, a limit that short would stop every process.
    assert record("--rows", rows, "--out", tmp_path / "out.jsonl", "--limit", "1", "--start", "25").returncode == 0
    assert [e.outcome for e in recorded(tmp_path / "out.jsonl")] == ["ok", "hung", "ok"]


def test_what_a_library_prints_does_not_mix_with_the_outcomes(tmp_path: Path) -> None:
    rows = rows_file(tmp_path, "import os; os.write(1, b'noise'); c.x(2)", "print('noise'); c.x(2)")
    assert record("--rows", rows, "--out", tmp_path / "out.jsonl").returncode == 0
    assert [e.outcome for e in recorded(tmp_path / "out.jsonl")] == ["ok", "ok"]


def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    slow = "import time; time.sleep(0.05); c.x(2)"
    rows, out = rows_file(tmp_path, *[slow] * 60), tmp_path / "out.jsonl"
    started = [*COMMAND, "--device", "cpu", "--rows", str(rows), "--out", str(out)]
    first = subprocess.Popen(started, cwd=ROOT, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while (not out.exists() or out.read_bytes().count(b"\n") < 5) and time.monotonic() < deadline:
        time.sleep(0.02)
    first.send_signal(signal.SIGKILL)
    first.wait()
    with out.open("a", encoding="utf-8") as half:
        half.write('{"key": "k5", "outc')
    before = out.read_bytes()[: out.read_bytes().rfind(b"\n") + 1]
    assert 5 <= before.count(b"\n") < 60
    done = record_outside("--rows", rows, "--out", out)
    assert done.returncode == 0, done.stderr
    assert out.read_bytes().startswith(before)
    assert [e.key for e in recorded(out)] == [f"k{n}" for n in range(60)]
    again = record("--rows", rows, "--out", out)
    assert "nothing left to run" in again.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [("", "no rows"), ("{}\n", "rows.jsonl:1: not a row"), ("nonsense\n", "rows.jsonl:1: not a row")],
)
def test_rows_that_are_none_are_refused(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "rows.jsonl").write_text(content)
    done = record("--rows", tmp_path / "rows.jsonl", "--out", tmp_path / "out.jsonl")
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_missing_file_of_rows_and_a_foreign_record_are_refused(tmp_path: Path) -> None:
    assert record_outside("--rows", tmp_path / "none.jsonl").returncode == 2
    (tmp_path / "out.jsonl").write_text("my notes")
    done = record("--rows", rows_file(tmp_path, "c.x(2)"), "--out", tmp_path / "out.jsonl")
    assert done.returncode == 2
    assert (tmp_path / "out.jsonl").read_text() == "my notes"


HEADER = {"record": 1, "torch": "2.13.0+cu130", "device": "cuda", "gpu": "NVIDIA H200", "driver": "570.1"}


@pytest.mark.parametrize("word", ["torch", "device", "gpu", "driver"])
def test_a_record_is_not_continued_on_another_machine(tmp_path: Path, word: str) -> None:
    open_record(tmp_path / "out.jsonl", HEADER)
    assert open_record(tmp_path / "out.jsonl", HEADER) == {}
    with pytest.raises(Refused, match=f"begun with {word}"):
        open_record(tmp_path / "out.jsonl", {**HEADER, word: "other"})


def test_records_are_named_by_torch_and_gpu() -> None:
    assert file_name(HEADER) == "torch-2.13.0+cu130-nvidia-h200.jsonl"


def test_a_half_written_line_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "out.jsonl").write_text(json.dumps(HEADER) + '\n{"key": "a", "outcome": "ok"}\n{"key": "b", "out')
    assert recorded(tmp_path / "out.jsonl") == [Ended("a", "ok")]
    assert open_record(tmp_path / "out.jsonl", HEADER) == {"a": "ok"}
    assert (tmp_path / "out.jsonl").read_text().endswith('"ok"}\n')


@pytest.mark.parametrize("content", [b"", b"[1]\n", b'{"record": 2}\n', b"\xff\n", b'{"record": 1}\n{"key": "a"}\n'])
def test_what_is_no_record_is_not_read(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "out.jsonl").write_bytes(content)
    with pytest.raises(Refused):
        read_record(tmp_path / "out.jsonl")


def test_which_errors_poison_a_process() -> None:
    assert poisons(Ended("a", "error", (), "AcceleratorError", "whatever"))
    assert poisons(Ended("a", "error", (), "RuntimeError", "CUDA error: an illegal memory access was encountered"))
    assert not poisons(Ended("a", "error", (), "RuntimeError", "Expected all tensors to be on the same device"))
    assert not poisons(Ended("a", "ok"))


@pytest.mark.parametrize(
    ("operation", "absent"),
    [("torch.add", False), ("torch.nope", True), ("torch.linalg.nope.more", True), ("Tensor.add_", False)],
)
def test_absence_of_an_operation(operation: str, absent: bool) -> None:
    assert is_absent(operation) is absent


def test_words_that_are_no_names_are_never_absent() -> None:
    assert not any(is_absent(word) for word in ("index", "operator.+", "written"))


def imports_of(module: str) -> Sequence[str]:
    code = f"import sys, {module}; print(*sorted({{m.split('.')[0] for m in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout.split()


def test_the_recorder_needs_none_of_devlints_dependencies() -> None:
    loaded: Any = imports_of("devlint.semantics.record.__main__")
    assert not {"libcst", "click", "rich", "pathspec"} & set(loaded)


def test_committed_rows_are_read() -> None:
    rows = read_rows(ROOT / "fixtures" / "semantics" / "rows.jsonl")
    assert len({row.operation for row in rows if row.operation.startswith(("torch.", "Tensor."))}) >= 400
    assert len({row.key for row in rows}) == len({row.code for row in rows}) == len(rows)


def test_structured_metas_play_the_accelerator(tmp_path: Path) -> None:
    codes = ("c.x(3) + h.x(3)", "c.x(3) + h.x()", "h.x().add_(c.x(3))", "c.x(3) + c1.x(3)")
    write_rows(tmp_path / "rows.jsonl", {}, [Row(c, "torch.add", c, "call", 1 + ("c1" in c)) for c in codes])
    done = record("--rows", tmp_path / "rows.jsonl", "--out", tmp_path / "out.jsonl", device="meta")
    assert "structured metas" in done.stderr
    refused, passes, in_place, second = recorded(tmp_path / "out.jsonl")
    assert "found at least two devices, meta and cpu" in refused.message
    assert (passes.outcome, passes.devices) == ("ok", ("meta",))
    assert in_place.outcome == "error"
    assert (second.outcome, second.message) == ("skipped", "needs 2 devices, 1 here")


def test_of_an_error_the_beginning_is_kept() -> None:
    assert told(RuntimeError("\nno kernel for it\n\nregistered at /home/someone/torch")) == "no kernel for it"
    assert told(RuntimeError()) == ""
    assert len(told(RuntimeError("x" * 1000))) == LONGEST


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_without_a_device_nothing_is_recorded(tmp_path: Path) -> None:
    done = record("--rows", rows_file(tmp_path, "c.x(2)"), "--out", tmp_path / "out.jsonl", device="cuda")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "finds no CUDA device" in done.stderr
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize(("gpus", "run"), [(1, ["fresh"]), (2, ["two", "fresh"])])
def test_what_was_skipped_for_want_of_a_device_runs_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gpus: int, run: list[str]
) -> None:
    rows = [Row(key, "written", "c.x(2)", "call", 2 if key == "two" else 1) for key in ("one", "two", "fresh")]
    write_rows(tmp_path / "rows.jsonl", {}, rows)
    begun = [{**HEADER, "gpus": 1}, {"key": "one", "outcome": "ok"}, {"key": "two", "outcome": "skipped"}]
    (tmp_path / "out.jsonl").write_text("".join(json.dumps(line) + "\n" for line in begun))
    monkeypatch.setattr(command, "header", lambda device: {**HEADER, "gpus": gpus})
    monkeypatch.setattr(command, "outcomes", lambda left, *_: [Ended(row.key, "ok") for row in left])
    assert command.main(["--device", "cuda", "--rows", f"{tmp_path}/rows.jsonl", "--out", f"{tmp_path}/out.jsonl"]) == 0
    assert [e.key for e in recorded(tmp_path / "out.jsonl")][2:] == run
