"""Python's parser is asked by one thread at a time, and a forked process can ask it whatever other threads did."""

from __future__ import annotations

import ast
import gc
import multiprocessing
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from devlint.source import python_parser
from devlint.source.python_parser import parse

NESTED = "".join(f"def f{number}(x):\n    return [[[(x + {number}) * (x - {number})]]]\n" for number in range(200))


def test_it_is_pythons_parser() -> None:
    assert ast.dump(parse(NESTED)) == ast.dump(ast.parse(NESTED))
    with pytest.raises(SyntaxError):
        parse("def f(:")


def test_threads_that_parse_at_once_get_their_trees() -> None:
    """Python code that the collector calls lets another thread in while a tree is built."""

    def called(phase: str, info: dict[str, int]) -> None:
        sum(range(50))

    interval, threshold = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(50)
    gc.callbacks.append(called)
    try:
        with ThreadPoolExecutor(4) as pool:
            trees = list(pool.map(parse, [NESTED] * 40))
    finally:
        gc.callbacks.remove(called)
        gc.set_threshold(*threshold)
        sys.setswitchinterval(interval)
    assert [len(tree.body) for tree in trees] == [200] * 40


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="the system has no fork")
def test_a_forked_process_waits_for_no_thread_of_its_parent() -> None:
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with python_parser._one_at_a_time:
            held.set()
            release.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(60)
    process = multiprocessing.get_context("fork").Process(target=parse, args=("x = 1",))
    process.start()
    process.join(30)
    release.set()
    thread.join()
    assert process.exitcode == 0
