"""Releases from a package index: downloaded once, unpacked, never installed and never run.

``CACHE/wheels/<package>-<version>/`` holds what was downloaded, ``CACHE/<package>-<version>/`` its files. Where there
is no way to the index, the archive can be put there by hand.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urldefrag, urljoin, urlsplit

from devlint.source.project import project_root

DEFAULT_CACHE = Path.home() / ".cache" / "devlint-benchmarks"

_PYPI = "https://pypi.org/simple"
_SECONDS = 180.0


def checked_cache(directory: Path) -> Path:
    """The cache as an absolute path; one inside a project would change the paths that fingerprints are made from."""
    cache = directory.expanduser().absolute()
    root = project_root(cache)
    if root is not None:
        raise SystemExit(f"--cache {cache}: inside the project {root}, so findings would differ; use one outside of it")
    return cache


def unpacked(package: str, version: str, cache: Path) -> Path:
    """The directory of a release's files, downloaded on the first call."""
    name = f"{package}-{version}"
    target = cache / name
    if target.is_dir():
        return target
    archives = cache / "wheels" / name
    archives.mkdir(parents=True, exist_ok=True)
    archive = _archive(archives) or _download(package, version, archives)
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        files = Path(scratch) / name
        unpack(archive, files)
        files.rename(target)
    return target


def unpack(archive: Path, target: Path) -> None:
    """A wheel's files, or a source archive's without the one directory that they are all in."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            wheel.extractall(target)
        return
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        with tarfile.open(archive) as source:
            source.extractall(scratch, filter="data")
        (top,) = Path(scratch).iterdir()
        shutil.move(top, target)


def _archive(directory: Path) -> Path | None:
    found = sorted(path for path in directory.iterdir() if path.name.endswith((".whl", ".tar.gz")))
    return found[0] if found else None


def _download(package: str, version: str, directory: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:"]
    command += ["--ignore-requires-python", "-d", str(directory), f"{package}=={version}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if (wheel := _archive(directory)) is not None:
        return wheel
    if "No matching distribution" not in done.stderr:
        raise SystemExit(f"pip download {package}=={version} failed:\n{done.stderr[-2000:]}")
    return _download_source(package, version, directory)


def _download_source(package: str, version: str, directory: Path) -> Path:
    """For a release without a wheel. pip itself would run the package's build to learn what it depends on."""
    project = re.sub(r"[-_.]+", "-", package).lower()
    page = f"{_index().rstrip('/')}/{project}/"
    by_hand = f"or put the source archive of {package} {version} into {directory}"
    try:
        with urllib.request.urlopen(page, timeout=_SECONDS) as answer:
            url = source_url(answer.read().decode(), answer.url, project, version)
        if url is None:
            raise SystemExit(f"{page} lists no source archive of {package} {version}; check the version, {by_hand}")
        address, digest = urldefrag(url)
        with urllib.request.urlopen(address, timeout=_SECONDS) as answer:
            content: bytes = answer.read()
    except urllib.error.URLError as error:
        raise SystemExit(f"{page}: {error.reason}; check pip's index-url, {by_hand}") from None
    algorithm, _, expected = digest.partition("=")
    if expected and hashlib.new(algorithm, content).hexdigest() != expected:
        raise SystemExit(f"{address}: not the {algorithm} that the index gives; try again, {by_hand}")
    target = directory / urlsplit(address).path.rsplit("/", 1)[-1]
    target.write_bytes(content)
    return target


def _index() -> str:
    """The index that pip is configured to use."""
    if address := os.environ.get("PIP_INDEX_URL"):
        return address
    for setting in ("download.index-url", "global.index-url"):
        command = [sys.executable, "-m", "pip", "config", "get", setting]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout.strip():
            return done.stdout.strip()
    return _PYPI


def source_url(page: str, base: str, project: str, version: str) -> str | None:
    """The address of the source archive among the links of a simple index page, with the digest as its fragment."""
    links = _Links()
    links.feed(page)
    wanted = re.compile(rf"{project.replace('-', '[-_.]')}-{re.escape(version)}\.tar\.gz", re.IGNORECASE)
    for link in links.found:
        if wanted.fullmatch(urlsplit(link).path.rsplit("/", 1)[-1]):
            return urljoin(base, link)
    return None


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if tag == "a" and name == "href" and value]
