"""The isolated process: ``python -m devlint.runtime.child JOB RECORD`` runs one entry and writes what it sees.

Each line of the record is one JSON object, written by one unbuffered write: what was seen is kept however this ends.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any

from devlint.runtime.comparisons import watched
from devlint.runtime.constructing import CannotBuild
from devlint.runtime.job import Job
from devlint.runtime.observation import Observation, Spot, to_json
from devlint.runtime.placements import Placement
from devlint.runtime.process_state import ProcessDefaults, watch_variables
from devlint.runtime.program import CannotRun, Program, built, import_paths, model, run_script, train_step, unasked
from devlint.runtime.reach import Reach

if TYPE_CHECKING:
    import torch

    from devlint.runtime.session import Machine, Session

_REACH_SECONDS = 0.05


class Skipped(Exception):
    """Why this run cannot be, though nothing is wrong with the entry."""


class Record:
    """The file that outlives the process. Writes are whole lines, so workers may share it."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def write(self, kind: str, **fields: Any) -> None:
        self._append({"type": kind, **fields})

    def observed(self, observation: Observation) -> None:
        self._append(to_json(observation))

    def _append(self, fields: dict[str, Any]) -> None:
        os.write(self._file, (json.dumps(fields) + "\n").encode("utf-8", "backslashreplace"))

    def ran(self, place: int) -> None:
        self.write("ran", place=place)

    def entered(self, path: str, scope: str) -> None:
        self.write("entered", path=path, scope=scope)

    def unreturned(self, code: CodeType) -> None:
        name, line = code.co_qualname.replace("<locals>.", ""), code.co_firstlineno
        message = f"{name} returned None, so whoever goes on with its result has no object"
        spot = Spot(os.path.abspath(code.co_filename), line, line, 0, name)
        self.observed(Observation("unreturned", (spot,), message=message))


def main(job_file: str, record_file: str) -> None:
    """Run the job; the record's last line says how it went."""
    job = Job.from_json(json.loads(Path(job_file).read_text(encoding="utf-8")))
    record = Record(Path(record_file))
    state, reason, about_devices, failed_at = "failed", None, False, None
    try:
        import torch
    except ImportError as error:
        record.write("end", state=state, reason=f"torch cannot be imported ({error}); install devlint[runtime]")
        return
    from devlint.runtime.failure import is_about_devices, place_of, words_of

    try:
        run(job, record, torch)
        state = "ran"
    except SystemExit as error:
        # Scripts end with sys.exit(main()).
        state, reason = ("ran", None) if error.code in (None, 0) else ("failed", f"it exited with {error.code}")
        failed_at = place_of(error)
    except (Skipped, CannotBuild) as error:
        state, reason = "skipped", str(error)
    except CannotRun as error:
        reason = str(error)
    except MemoryError:
        reason = "it ran out of memory"
    except BaseException as error:
        traceback.print_exc()
        reason, about_devices, failed_at = words_of(error), is_about_devices(error), place_of(error)
    told = None if failed_at is None else asdict(failed_at)
    record.write("end", state=state, reason=reason, device_error=about_devices, failed_at=told)


def run(job: Job, record: Record, torch: Any) -> None:
    """Everything between the machine's start and the last observation."""
    place = _place(job, torch)
    record.write("start", device=str(place.device), simulated=place.machine.simulated, sanitized=job.sanitize)
    _limit_memory(job)
    sys.path[:0] = import_paths(job.entry)
    with watched(job.comparisons, record.observed) as compiled:
        # What --auto tries out runs as on a CPU and is not observed.
        make = unasked(job.entry) if job.entry.kind == "auto" else None
        with (
            Reach(job.places, record.ran, record.unreturned, record.entered),
            _observing(place, job, record) as session,
        ):
            try:
                if job.entry.kind == "script":
                    _follow(job, place)
                    run_script(job.entry, compiled)
                else:
                    _execute(job, place, session, make)
            except Exception as error:
                session.failed(error)
                raise


def _execute(job: Job, place: _Place, session: Session, make: Callable[[], Program] | None) -> None:
    entry = job.entry
    program = make() if make else model(entry) if entry.kind == "model" else built(entry, str(place.device))
    if program.is_step and not program.takes_device:
        _follow(job, place)
    if not program.is_step and job.placement is not Placement.CPU:
        program = Program(*session.lift_call(program.model, program.args, dict(program.kwargs)))
    if job.train and not program.is_step:
        train_step(program)
    else:
        result = program.forward()
        if entry.kind == "auto" and inspect.isfunction(program.model):
            session.returned(program.model.__qualname__, result)


def _follow(job: Job, place: _Place) -> None:
    """What cannot be told where to run finds the device under test as the current one."""
    if job.placement is Placement.SECOND:
        _make_current(place.device.type, place.device.index)


@dataclass(frozen=True)
class _Place:
    """Where the entry runs."""

    device: torch.device
    machine: Machine


def _place(job: Job, torch: Any) -> _Place:
    """The device of the job's placement on a real or simulated machine. Raises CannotRun and Skipped."""
    from devlint.runtime.real import RealMachine

    if job.placement is Placement.CPU:
        return _Place(torch.device("cpu"), RealMachine("cpu"))
    index = job.wish.index + (job.placement is Placement.SECOND)
    count = torch.cuda.device_count() if job.wish.machine != "sim" and torch.cuda.is_available() else 0
    if job.wish.machine == "cuda" and not count:
        raise CannotRun("there is no CUDA device here; --device sim simulates one")
    if job.wish.machine == "cuda" and index >= count:
        if job.placement is Placement.SECOND:
            raise Skipped(f"there is no cuda:{index} here")
        raise CannotRun(f"there is no cuda:{index} here, only {count}")
    device = torch.device(job.wish.kind, index)
    if index < count:
        return _Place(device, RealMachine(device))
    from devlint.runtime.simulated import KINDS, SimulatedMachine

    kind = KINDS[job.wish.kind]
    if index >= kind.most:
        absent = Skipped if job.placement is Placement.SECOND else CannotRun
        raise absent(f"a machine has no {device}, only {kind.most}")
    return _Place(device, SimulatedMachine(min(max(2, job.wish.index + 2), kind.most), kind))


@contextlib.contextmanager
def _observing(place: _Place, job: Job, record: Record) -> Iterator[Session]:
    from devlint.runtime.session import observe

    on_accelerator = job.placement is not Placement.CPU
    with observe(place.machine, record.observed, device=place.device, repair=job.repair) as session:
        if on_accelerator and job.wish.index:
            _make_current(place.device.type, job.wish.index)
        defaults = ProcessDefaults.now(place.device.type) if on_accelerator else None
        watch_variables(record.observed)
        over = threading.Event()
        watcher = threading.Thread(target=_tell_when_reached, args=(session, record, over), daemon=True)
        watcher.start()
        try:
            with _sanitized(job, record):
                yield session
        finally:
            for observation in defaults.changes(place.device) if defaults else ():
                record.observed(observation)
            over.set()
            watcher.join()


@contextlib.contextmanager
def _sanitized(job: Job, record: Record) -> Iterator[None]:
    if not job.sanitize:
        yield
        return
    from devlint.runtime.sanitizer import sanitized

    with sanitized(record.observed):
        yield


def _make_current(kind: str, index: int) -> None:
    import torch

    getattr(torch, kind).set_device(index)


def _tell_when_reached(session: Session, record: Record, over: threading.Event) -> None:
    """Soon, not only at the end: the process may not live to see it."""
    while not session.reached_device and not over.wait(_REACH_SECONDS):
        pass
    if session.reached_device:
        record.write("reached-device")


def _limit_memory(job: Job) -> None:
    """Let a single huge allocation fail at once; the parent watches what the process really uses."""
    if job.memory is None or not sys.platform.startswith("linux") or job.wish.machine == "cuda":
        return
    import resource

    used = int(Path("/proc/self/status").read_text().split("VmData:")[1].split()[0]) * 1024
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = used + job.memory
    resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


if __name__ == "__main__":
    main(*sys.argv[1:])
