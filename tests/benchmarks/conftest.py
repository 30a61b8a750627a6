"""The measures are scripts that import each other by their file names; their tests find them the same way."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
