"""The projects whose tests are run: one line each says what a run of them needs besides torch, numpy and pytest."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Project:
    """How the tests of a project are run on the torch that is there."""

    name: str
    """What the ids of its bugs begin with; its environment is called so too."""
    tests: tuple[str, ...] = ("tests", "test")
    """Directories of the tree that hold tests, or name endings of files that do."""
    needs: tuple[str, ...] = ()
    """Packages of its environment, as pip takes them."""
    sources: tuple[str, ...] = (".", "src")
    """Directories that its packages are imported from."""
    absent: tuple[str, ...] = ()
    """Packages that are imported and not had: they can be imported, and whatever uses them fails."""
    options: tuple[str, ...] = ()
    """More arguments for pytest."""


_SCIPY = ("scipy", "scikit-learn")

PROJECTS = (
    Project("gpytorch", needs=("linear_operator", "jaxtyping", *_SCIPY, "pyro-ppl")),
    Project("torchmetrics", needs=("lightning-utilities", "scikit-learn", "numpy<2", "pytest<8", "psutil", "cloudpickle"),
            absent=("torchvision",)),
    Project("botorch", needs=("gpytorch", "linear_operator", "pyre-extensions", "pyro-ppl", "multipledispatch",
            "threadpoolctl", *_SCIPY)),
    Project("pytorch-metric-learning", needs=(*_SCIPY, "tqdm", "faiss-cpu"), absent=("torchvision", "record_keeper")),
    Project("captum", needs=("matplotlib", "tqdm", "parameterized", *_SCIPY), absent=("torchvision",)),
    Project("ignite", needs=(*_SCIPY, "numpy<2", "nltk", "pandas", "pytest<8", "dill", "tqdm"), absent=("torchvision",)),
    Project("skorch", needs=(*_SCIPY, "tabulate", "tqdm", "flaky", "pandas", "numpy<2")),
    Project("kornia", needs=("kornia_rs", "packaging", "scipy", "opencv-python-headless"), absent=("torchvision",)),
    Project("pyro", needs=("pyro-api", "opt_einsum", "tqdm", "graphviz", "contextlib2", "networkx", "scipy", "pandas"),
            absent=("torchvision",)),
    Project("pytorch_geometric", needs=(*_SCIPY, "tqdm", "jinja2", "aiohttp", "psutil", "requests", "pyparsing", "xxhash",
            "networkx", "pandas", "numba", "rdflib", "googledrivedownloader"), absent=("torchvision",)),
    Project("sbi", needs=("nflows", "zuko", "pyro-ppl", *_SCIPY, "matplotlib", "pandas", "arviz<1", "pyknos", "pymc",
            "notebook<7", "tensorboard", "joblib", "tqdm")),
    Project("avalanche", needs=("matplotlib", "pandas", "scikit-learn", "dill", "tqdm", "psutil", "tensorboard",
            "typing_extensions", "quadprog", "gputil", "pytorchcv", "setuptools<81"), absent=("torchvision", "wandb",)),
    Project("vector-quantize-pytorch", needs=("einops", "einx")),
    Project("MONAI", needs=("nibabel", "scipy", "scikit-image", "parameterized", "einops", "packaging")),
)


def project_of(bug: str) -> Project | None:
    """The project that the id of a bug belongs to: ids are its name, the fix and the line."""
    name = bug.rsplit("-", 2)[0].lower()
    return next((project for project in PROJECTS if project.name.lower() == name), None)
