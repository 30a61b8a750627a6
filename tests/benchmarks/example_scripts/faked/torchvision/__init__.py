"""Stands for torchvision, which the environment has none of: its names as example scripts use them, and faked data."""

from torchvision import datasets, models, ops, transforms, utils

__version__ = "0.28.0"
__all__ = ["datasets", "models", "ops", "transforms", "utils"]
