"""The part of the cache that is addressed by content: texts under keys, a few hundred files of them.

A text is found under a key that says all there is to say of its file's own content; there are several texts where the
same file was met in different surroundings. What is not there, or cannot be read, is computed again.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from devlint.cache.place import write
from devlint.cache.reading import parsed, read_sealed, sealed

MAX_PACK_BYTES = 512 * 1024
"""Bytes of one pack on disk. There are 256, so that the whole takes 128 MiB at most."""

_MAX_KEY_TEXTS = 4
"""Texts of one key: the states that a file is switched between, as by changing branches."""


class Packs:
    """Texts by their keys (hexadecimal hashes), the oldest forgotten first."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._packs: dict[str, dict[str, list[str]]] = {}
        self._new: dict[str, dict[str, list[str]]] = {}

    def get(self, key: str) -> list[str]:
        """All texts of a key, the newest first."""
        name = key[:2]
        if name not in self._packs:
            self._packs[name] = _read(self._directory / f"{name}.json")
        new = self._new.get(name, {}).get(key, [])
        return [*reversed(new), *reversed(self._packs[name].get(key, []))]

    def add(self, key: str, text: str) -> None:
        texts = self._new.setdefault(key[:2], {}).setdefault(key, [])
        if text not in texts:
            texts.append(text)

    def save(self) -> bool:
        """Write what was added; whether there was anything. Raises OSError.

        What another run has written in the meantime is kept, but for what it writes in the same instant.
        """
        added_any = bool(self._new)
        if added_any:
            self._directory.mkdir(exist_ok=True)
        for name, added in self._new.items():
            path = self._directory / f"{name}.json"
            pack = _read(path)
            for key, texts in added.items():
                kept = [text for text in pack.pop(key, []) if text not in texts]
                pack[key] = [*kept, *texts][-_MAX_KEY_TEXTS:]  # at the end: the newest
            data = _bytes(pack)
            while len(data) > MAX_PACK_BYTES and pack:
                for key in list(pack)[: max(len(pack) // 4, 1)]:
                    del pack[key]
                data = _bytes(pack)
            write(path, data)
        self._new.clear()
        return added_any


def _bytes(pack: dict[str, list[str]]) -> bytes:
    return sealed(json.dumps(pack, separators=(",", ":")).encode())


def _read(path: Path) -> dict[str, list[str]]:
    with contextlib.suppress(OSError, ValueError):
        (line,) = read_sealed(path)
        pack = parsed(line)
        if isinstance(pack, dict) and all(
            isinstance(texts, list) and all(isinstance(text, str) for text in texts) for texts in pack.values()
        ):
            return pack
    return {}
