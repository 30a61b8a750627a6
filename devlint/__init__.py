"""devlint finds the bugs that appear when a PyTorch program leaves the CPU."""

__version__ = "0.1.0"
