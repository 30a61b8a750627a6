"""The user's frames: where in the program something happened; torch's, numpy's and devlint's code is left out."""

from __future__ import annotations

import importlib.util
import linecache
import os
import re
import sys
import sysconfig
import threading
import tokenize
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from types import CodeType, FrameType

import torch

from devlint.runtime.observation import Spot

_NUMPY = importlib.util.find_spec("numpy")
_FOLDERS = [Path(torch.__file__).parent, Path(__file__).parents[1]]
if _NUMPY is not None and _NUMPY.origin is not None:
    _FOLDERS.append(Path(_NUMPY.origin).parent)
_PACKAGES = tuple(f"{folder}{os.sep}" for folder in _FOLDERS)
_LIBRARY = sysconfig.get_paths()["stdlib"] + os.sep
_SITE = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")

RawSpot = tuple[CodeType, int]
"""A place before anybody asked for its text: the code object and the offset of the instruction."""


@cache
def is_user_code(path: str) -> bool:
    """Whether a file is the program's own (or a third party's): not torch's, numpy's, devlint's or the standard
    library's, and no text that was made on the way ("<string>", "<eval_with_key>.0 from ..."), which nobody can look
    up.

    What numpy reads, it reads for its caller: two calls of ``np.argmax`` are two places.
    """
    if path.startswith(_PACKAGES) or path.startswith("<"):
        return False
    if path.startswith(_LIBRARY):
        return any(part in path for part in _SITE)
    return True


RUN_BACKWARD = "_engine_run_backward"
"""The function of torch/autograd/graph.py that calls autograd's engine, and waits for it."""


def caller(depth: int) -> FrameType | None:
    """`sys._getframe` of whoever calls this; where the stack is not so deep, the frame that waits for its thread."""
    try:
        return sys._getframe(depth + 1)
    except ValueError:
        return _waiting(None)


def outward(frame: FrameType | None) -> Iterator[FrameType]:
    """This frame and those around it; after the last of a thread of autograd's engine, the frames that wait for it."""
    outermost = None
    while frame is not None:
        yield frame
        outermost, frame = frame, frame.f_back
    frame = None if outermost is None else _waiting(outermost)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _waiting(outermost: FrameType | None) -> FrameType | None:
    """Where the backward pass was asked for that this thread works for; None in a thread that Python has started.

    Autograd's engine has a thread for each accelerator, begun in C++: a hook, or a mode that it asks there, has no
    frame of the program beneath it. `outermost`: the last frame of the stack, if it has any.
    """
    own = threading.get_ident()
    if own == threading.main_thread().ident or (outermost is not None and outermost.f_code in _STARTS):
        return None
    for ident, innermost in sys._current_frames().items():
        frame: FrameType | None = None if ident == own else innermost
        # The thread that waits works as well: a hook of an operation on the CPU may be on top of its stack.
        while frame is not None:
            if frame.f_code.co_name == RUN_BACKWARD:
                return frame
            frame = frame.f_back
    return None


_STARTS = (threading.Thread._bootstrap.__code__,)  # type: ignore[attr-defined]


def user_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """The user's frames from this one outward."""
    return (each for each in outward(frame) if is_user_code(each.f_code.co_filename))


def past_modes(frame: FrameType | None) -> FrameType | None:
    """The frame whose call came here: torch's modes that stand in between, as `with torch.device(...)`, left out."""
    while frame is not None and frame.f_code.co_name == "__torch_function__":
        if is_user_code(frame.f_code.co_filename) or frame.f_back is None:
            break
        frame = frame.f_back
    return frame


def here(depth: int = 1) -> RawSpot | None:
    """The innermost user frame, as cheaply as can be."""
    outermost = None
    try:
        frame: FrameType | None = sys._getframe(depth)  # Not by `caller`: this is asked for every operation.
    except ValueError:
        frame = None
    while frame is not None:
        if is_user_code(frame.f_code.co_filename):
            return frame.f_code, frame.f_lasti
        outermost, frame = frame, frame.f_back
    beyond = next(user_frames(_waiting(outermost)), None)
    return None if beyond is None else (beyond.f_code, beyond.f_lasti)


def spot(raw: RawSpot | None) -> Spot | None:
    """The place in words. Columns of PEP 657 are bytes of UTF-8; they are counted in code points here."""
    # Like functions in two files are equal code objects: equality leaves the file's name out.
    return None if raw is None else _spot(*raw, raw[0].co_filename)


@cache
def _spot(code: CodeType, offset: int, file: str) -> Spot:
    positions = islice(code.co_positions(), max(offset, 0) // 2, None)
    line, end_line, column, end_column = next(positions, (None, None, None, None))
    line = line or code.co_firstlineno
    end_line = end_line or line
    path = os.path.abspath(file)
    if end_line > line and column is not None:
        # What a loop or a context does by itself has the position of the whole statement, body and all.
        end_line, end_column = _header_end(path, line, column) or (end_line, end_column)
    scope = code.co_qualname.replace("<locals>.", "")
    return Spot(
        path,
        line,
        end_line,
        _code_points(path, line, column),
        "" if scope == "<module>" else scope,
        _code_points(path, end_line, end_column),
    )


_COMPOUND = re.compile(rb"(async\s+)?(for|with)\b")


def _header_end(path: str, line: int, column: int) -> tuple[int, int] | None:
    """Line and column (bytes) after the colon of a compound statement that begins there; None for another one."""
    lines = linecache.getlines(path)[line - 1 :]
    if not lines or not _COMPOUND.match(lines[0].encode("utf-8", "surrogatepass"), column):
        return None
    depth = 0
    try:
        for token in tokenize.generate_tokens(iter(lines).__next__):
            if token.type == tokenize.OP:
                depth += (token.string in "([{") - (token.string in ")]}")
                if token.string == ":" and not depth:
                    row, end = token.end
                    return line + row - 1, len(lines[row - 1][:end].encode("utf-8", "surrogatepass"))
    except (tokenize.TokenError, SyntaxError, StopIteration):
        pass
    return None


def _code_points(path: str, line: int, column: int | None) -> int:
    if column is None:
        return 0
    text = linecache.getline(path, line).encode("utf-8", "surrogatepass")
    return len(text[:column].decode("utf-8", "replace")) + 1 if text else column + 1


def spots(frame: FrameType | None, limit: int = 12) -> tuple[Spot, ...]:
    """The user's frames as places, innermost first."""
    found = (spot((f.f_code, f.f_lasti)) for f in islice(user_frames(frame), limit))
    return tuple(s for s in found if s is not None)
