"""Where the user's code is."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from devlint.runtime.frames import RUN_BACKWARD, caller, here, outward, spots, user_frames
from devlint.runtime.recorder.recorder import phase_of


def test_like_functions_in_two_files_are_two_places(tmp_path: Path) -> None:
    found = []
    for name in ("one.py", "two.py"):
        names = {"look": lambda: spots(sys._getframe(1))}
        exec(compile("def f():\n    return look()\n\nseen = f()\n", str(tmp_path / name), "exec"), names)
        found.append([(Path(spot.path).name, spot.line, spot.column, spot.end_column) for spot in names["seen"][:2]])
    assert found == [[(name, 2, 12, 18), (name, 4, 8, 11)] for name in ("one.py", "two.py")]


@pytest.mark.parametrize(
    ("head", "end"),
    [
        ("for x in Rows():", (3, 21)),
        ("for x in {1: Rows(), 2: 0}[1]:", (3, 35)),
        ("for x in (\n        Rows()):", (4, 17)),
        ("with Rows():", (3, 17)),
    ],
)
def test_what_a_loop_does_by_itself_is_at_its_head(tmp_path: Path, head: str, end: tuple[int, int]) -> None:
    found = []

    class Rows:
        """Looks who uses it."""

        def __iter__(self) -> Iterator[int]:
            return self

        def __next__(self) -> int:
            found.extend(spots(sys._getframe(1))[:1])
            raise StopIteration

        def __enter__(self) -> None:
            found.extend(spots(sys._getframe(1))[:1])

        def __exit__(self, *_: object) -> None:
            pass

    file = tmp_path / "looped.py"
    file.write_text(f"\ndef f():\n    {head}\n        kept = 1\n        more = 2\n\nf()\n", "utf-8")
    exec(compile(file.read_text("utf-8"), str(file), "exec"), {"Rows": Rows})
    assert [(spot.line, spot.column, spot.end_line, spot.end_column) for spot in found] == [(3, 5, *end)]


def test_a_call_over_several_lines_keeps_its_end(tmp_path: Path) -> None:
    found = []
    file = tmp_path / "called.py"
    file.write_text("format_all(\n    1,\n    2,\n)\n", "utf-8")
    names = {"format_all": lambda *_: found.extend(spots(sys._getframe(1))[:1])}
    exec(compile(file.read_text("utf-8"), str(file), "exec"), names)
    assert [(spot.line, spot.column, spot.end_line, spot.end_column) for spot in found] == [(1, 1, 4, 2)]


def started_in_c(look: Callable[[], object]) -> tuple[ctypes.CDLL, ctypes.c_ulong, object]:
    """Calls it in a thread with no frame of Python beneath it, as those have in which autograd goes backward."""
    libc, thread = ctypes.CDLL(None), ctypes.c_ulong()
    start = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda _: look() and None)
    assert libc.pthread_create(ctypes.byref(thread), None, start, None) == 0
    return libc, thread, start


def _engine_run_backward(look: Callable[[], object]) -> None:
    """Waits under the name that the function has in torch/autograd/graph.py."""
    libc, thread, _kept = started_in_c(look)
    libc.pthread_join(thread, None)


def _hook_on_the_cpu(look: Callable[[], object]) -> None:
    libc, thread, _kept = started_in_c(look)
    libc.pthread_join(thread, None)


def waits_for_another_reason(look: Callable[[], object]) -> None:
    libc, thread, _kept = started_in_c(look)
    libc.pthread_join(thread, None)


needs_threads_of_c = pytest.mark.skipif(sys.platform == "win32", reason="pthreads are asked for by name")


@needs_threads_of_c
def test_in_a_thread_of_autograd_the_program_is_where_it_waits_for_it() -> None:
    found: list[object] = []

    def look() -> None:
        found.append([frame.f_code.co_name for frame in user_frames(sys._getframe(0))])
        found.append(phase_of(sys._getframe(0)))
        frame = caller(50)
        found.append(None if frame is None else frame.f_code.co_name)
        place = here(50)
        found.append(None if place is None else place[0].co_name)

    _engine_run_backward(look)
    names, phase, beyond, place = found
    assert isinstance(names, list)
    test = "test_in_a_thread_of_autograd_the_program_is_where_it_waits_for_it"
    assert names[:4] == ["look", "<lambda>", RUN_BACKWARD, test]
    assert (phase, beyond, place) == ("backward", RUN_BACKWARD, RUN_BACKWARD)


@needs_threads_of_c
def test_a_hook_on_top_of_the_thread_that_waits_hides_nothing() -> None:
    found: list[list[str]] = []

    def _engine_run_backward() -> None:
        _hook_on_the_cpu(lambda: found.append([f.f_code.co_name for f in outward(sys._getframe(0))]))

    _engine_run_backward()
    (names,) = found
    assert names[2:4] == [RUN_BACKWARD, "test_a_hook_on_top_of_the_thread_that_waits_hides_nothing"]


@needs_threads_of_c
def test_a_thread_that_nobody_waits_for_ends_where_it_ends() -> None:
    found: list[object] = []

    def look() -> None:
        found.extend([[f.f_code.co_name for f in outward(sys._getframe(0))], caller(50), here(50)])

    waits_for_another_reason(look)
    assert found == [["look", "<lambda>"], None, None]


def test_a_thread_of_the_program_is_not_part_of_a_backward_pass_beside_it() -> None:
    found: list[list[str]] = []
    thread = threading.Thread(target=lambda: found.append([f.f_code.co_name for f in outward(sys._getframe(0))]))

    def _engine_run_backward() -> None:
        thread.start()
        thread.join()

    _engine_run_backward()
    assert found[0][0] == "<lambda>"
    assert RUN_BACKWARD not in found[0]
