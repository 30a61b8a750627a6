"""`python -m devlint.semantics.generate.without_gpu TORCH OUT`: stand-ins for CUDA's libraries.

TORCH is the folder of an installed or unpacked CUDA wheel (the one that holds `lib`), OUT where the libraries go. Then

    LD_LIBRARY_PATH=OUT python -m devlint.semantics.record --device cuda

with that torch first on PYTHONPATH records what PyTorch itself says to every row. Needs gcc and binutils.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from devlint.semantics.generate.without_gpu.libraries import build


def main(arguments: list[str]) -> int:
    """Build the libraries; exit code 2 when that is not possible."""
    if len(arguments) != 2:
        sys.stderr.write(f"usage: {(__doc__ or '').split(chr(96))[1]}\n")
        return 2
    libraries = Path(arguments[0]) / "lib"
    if not (libraries / "libtorch_cuda.so").exists():
        sys.stderr.write(f"error: {libraries}: no libtorch_cuda.so; it takes a CUDA build of torch\n")
        return 2
    try:
        built = build(libraries, Path(arguments[1]))
    except (subprocess.CalledProcessError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stderr.write(f"{len(built)} libraries in {arguments[1]}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
