"""Archives found and unpacked; nothing is downloaded here."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest
from downloads import checked_cache, source_url, unpacked

PAGE = """<html><body>
<a href="../../packages/aa/my_pkg-1.0-py3-none-any.whl#sha256=1">my_pkg-1.0-py3-none-any.whl</a>
<a href="../../packages/bb/my-pkg-1.0.tar.gz#sha256=2">my-pkg-1.0.tar.gz</a>
<a href="../../packages/cc/my_pkg-1.0.1.tar.gz#sha256=3">my_pkg-1.0.1.tar.gz</a>
</body></html>"""


def test_the_source_archive_of_the_version_is_found() -> None:
    base = "https://index.invalid/simple/my-pkg/"
    assert source_url(PAGE, base, "my-pkg", "1.0") == "https://index.invalid/packages/bb/my-pkg-1.0.tar.gz#sha256=2"
    assert source_url(PAGE, base, "my-pkg", "1.0.1") == "https://index.invalid/packages/cc/my_pkg-1.0.1.tar.gz#sha256=3"
    assert source_url(PAGE, base, "my-pkg", "1.1") is None


def test_a_wheel_and_a_source_archive_have_the_same_root(tmp_path: Path) -> None:
    wheel = tmp_path / "wheels" / "net-1.0" / "net-1.0-py3-none-any.whl"
    wheel.parent.mkdir(parents=True)
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("net/__init__.py", "")
    source = tmp_path / "wheels" / "net-2.0" / "net-2.0.tar.gz"
    source.parent.mkdir(parents=True)
    with tarfile.open(source, "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("net-2.0/net/__init__.py"), io.BytesIO())
    for version in ("1.0", "2.0"):
        assert (unpacked("net", version, tmp_path) / "net" / "__init__.py").is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["net-1.0", "net-2.0", "wheels"]


def test_a_cache_in_a_project_is_refused(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "pyproject.toml").touch()
    assert checked_cache(tmp_path / "cache") == tmp_path / "cache"
    with pytest.raises(SystemExit, match="inside the project"):
        checked_cache(tmp_path / "project" / "cache")
