"""Stand-ins for the CUDA libraries a build of torch was linked against, made from the symbols it asks for."""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent

OURS = re.compile(r"lib(cu|nv|nccl)")
"""Libraries to stand in for: CUDA's own and those built on it."""

UNVERSIONED = {
    "cusparseLt": "libcusparseLt.so.0",
    "cuFile": "libcufile.so.0",
    "nccl": "libnccl.so.2",
    "nvshmem": "libnvshmem_host.so.3",
    "cu[A-Z]": "libcuda.so.1",
}
"""Beginnings of symbols that carry no version, and the library that has them."""

Wanted = dict[str, dict[str, set[str]]]
"""Library -> version of its symbols ("" for none) -> names."""


def wanted(libraries: Path) -> Wanted:
    """What the libraries of an installed torch (`torch/lib`) ask of CUDA's. Needs binutils."""
    found: Wanted = defaultdict(lambda: defaultdict(set))
    for library in sorted(libraries.glob("*.so")):
        for needed in re.findall(r"NEEDED\).*\[(.*)\]", _told("readelf", "-d", str(library))):
            if OURS.match(needed):
                found[needed]
        owners = dict(_versions(_told("readelf", "-V", str(library))))
        for line in _told("nm", "-D", "--undefined-only", str(library)).splitlines():
            name, _, version = line.split()[-1].partition("@")
            owner = owners.get(version, "") if version else _owner(name)
            if OURS.match(owner):
                found[owner][version].add(name)
    return found


def build(libraries: Path, out: Path) -> list[str]:
    """Write the stand-ins to `out`, the names of the libraries. Needs gcc. Raises CalledProcessError."""
    out.mkdir(parents=True, exist_ok=True)
    needed = wanted(libraries)
    for name, symbols in sorted(needed.items()):
        stem = name.split(".so")[0]
        by_hand = HERE / f"{stem}.c"
        hand = by_hand.read_text("utf-8") if by_hand.exists() else ""
        defined = set(re.findall(r"\w+", hand))
        rest = out / f"{stem}_rest.c"
        names = sorted(set().union(*symbols.values()) - defined)
        rest.write_text("\n".join(map(_stand_in, names)) + "\n", encoding="utf-8")
        versions = out / f"{stem}.map"
        nodes = [f"{v} {{ global: {' '.join(f'{n};' for n in sorted(ns))} }};" for v, ns in symbols.items() if v]
        versions.write_text("\n".join(nodes), encoding="utf-8")
        command = ["gcc", "-w", "-O1", "-shared", "-fPIC", "-o", str(out / name), f"-Wl,-soname,{name}"]
        command += [f"-Wl,--version-script={versions}"] if nodes else []
        subprocess.run([*command, *([str(by_hand)] if hand else []), str(rest)], check=True)
    return sorted(needed)


def _stand_in(name: str) -> str:
    """A function that does nothing and answers 0, which is success everywhere; one that creates gives a handle."""
    if "Create" in name and not name.startswith(("cudnnBackend", "nccl")):
        return f"int {name}(void **made) {{ static char handle[4096]; *made = handle; return 0; }}"
    if "String" in name:
        return f'const char *{name}(void) {{ return "no GPU"; }}'
    return f"int {name}(void) {{ return 0; }}"


def _versions(told: str) -> Iterator[tuple[str, str]]:
    """(version, library) of each line `readelf -V` prints about needed versions."""
    library = ""
    for line in told.splitlines():
        if named := re.search(r"File: (\S+)", line):
            library = named[1]
        elif version := re.search(r"Name: (\S+)", line):
            yield version[1], library


def _owner(name: str) -> str:
    return next((library for beginning, library in UNVERSIONED.items() if re.match(beginning, name)), "")


def _told(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
