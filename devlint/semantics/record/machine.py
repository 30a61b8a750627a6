"""Description of the machine on which a record is made."""

from __future__ import annotations

import datetime
import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any

import torch

STANDS_FOR_ONE = {"cpu": "dry run", "meta": "structured metas"}
"""What a record is called that no GPU made."""


class NoDevice(Exception):
    """The device asked for is not there."""


def header(device: str) -> dict[str, Any]:
    """The first line of a record. Raises NoDevice when torch cannot use the device."""
    common = {
        "record": 1,
        "torch": str(torch.__version__),
        "device": device,
        "python": platform.python_version(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }
    if device != "cuda":
        return {**common, "gpu": STANDS_FOR_ONE[device], "gpus": 0, "driver": "", "cuda": ""}
    if not torch.cuda.is_available():
        raise NoDevice(f"torch {torch.__version__} finds no CUDA device here; --device cpu makes a dry run")
    return {
        **common,
        "gpu": torch.cuda.get_device_name(0),
        "gpus": torch.cuda.device_count(),
        "driver": driver(),
        "cuda": str(torch.version.cuda),
        "visible": os.environ.get("CUDA_VISIBLE_DEVICES", ""),
    }


def driver() -> str:
    """The NVIDIA driver's version as nvidia-smi or the kernel module tells it; "unknown" without either."""
    program = shutil.which("nvidia-smi")
    if program is not None:
        query = [program, "--query-gpu=driver_version", "--format=csv,noheader"]
        done = subprocess.run(query, capture_output=True, text=True, check=False, timeout=60)
        if done.returncode == 0 and done.stdout.strip():
            return done.stdout.split()[0]
    module = Path("/proc/driver/nvidia/version")
    return module.read_text().splitlines()[0].strip() if module.exists() else "unknown"
