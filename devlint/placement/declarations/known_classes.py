"""Classes of other libraries that are known by name: what deriving from them, or holding one, means for placement.

Source: the public documentation of each library.
"""

from __future__ import annotations

from enum import Enum


class ClassKind(Enum):
    """What a class is, by its bases."""

    MODULE = "module"
    LIGHTNING = "lightning"
    """A Module whose batches arrive moved and whose ``device`` follows it."""
    HOST = "host"
    """Dataset, Sampler, Transform: works on the CPU."""
    AUTOGRAD = "autograd"
    """``torch.autograd.Function``: tensors in, tensors out, no self."""
    OPTIMIZER = "optimizer"
    PLAIN = "plain"
    UNKNOWN = "unknown"


_KINDS: dict[str, tuple[str, ...]] = {
    "module": (
        "torch.nn.Module", "torch.jit.ScriptModule", "transformers.PreTrainedModel", "diffusers.ModelMixin",
        "torchmetrics.Metric", "gpytorch.Module", "botorch.models.model.Model", "torch_geometric.nn.MessagePassing",
        "sentence_transformers.SentenceTransformer", "speechbrain.nnet.containers.Sequential",
    ),
    "lightning": (
        "pytorch_lightning.LightningModule", "lightning.LightningModule", "lightning.pytorch.LightningModule",
        "pytorch_lightning.core.LightningModule",
    ),
    "host": (
        "torch.utils.data.Dataset", "torch.utils.data.IterableDataset", "torch.utils.data.Sampler",
        "torch.utils.data.DataLoader", "torch_geometric.data.Dataset", "torch_geometric.data.InMemoryDataset",
        "torch.utils.data.sampler.Sampler", "torch.utils.data.dataset.Dataset", "torch.utils.data.TensorDataset",
        "torch.utils.data.IterDataPipe", "torch.utils.data.MapDataPipe",
    ),
    "autograd": ("torch.autograd.Function", "torch.autograd.function.Function", "autograd.Function"),
    "optimizer": ("torch.optim.Optimizer", "torch.optim.optimizer.Optimizer"),
    "plain": (
        "object", "ABC", "abc.ABC", "Protocol", "typing.Protocol", "typing.Generic", "Generic", "dict", "list", "tuple",
        "Exception", "Enum", "enum.Enum", "typing.NamedTuple", "NamedTuple", "str", "int",
    ),
}  # fmt: skip

_BY_NAME = {name: kind for kind, names in _KINDS.items() for name in names}
_BY_LAST_NAME = {
    "LightningModule": "lightning",
    "PreTrainedModel": "module",
    "ModelMixin": "module",
    "MessagePassing": "module",
    "Metric": "module",
    "Dataset": "host",
    "IterableDataset": "host",
    "InMemoryDataset": "host",
    "Sampler": "host",
    "BatchSampler": "host",
    "MapTransform": "host",
    "Transform": "host",
    "ImageProcessingMixin": "host",
    "BaseImageProcessor": "host",
    "BaseImageProcessorFast": "host",
    "FeatureExtractionMixin": "host",
    "SequenceFeatureExtractor": "host",
    "ProcessorMixin": "host",
    "PreTrainedTokenizer": "host",
    "PreTrainedTokenizerBase": "host",
    "TorchvisionBackend": "host",
    "PilBackend": "host",
    "Enum": "plain",
}
"""Base classes that keep their meaning under whatever module path a project imports them from."""


def kind_of_base(name: str) -> str | None:
    """The kind of a base class by its qualified name; None when nothing is known of it."""
    found = _BY_NAME.get(name)
    if found is not None:
        return found
    if name.startswith("torch.nn."):
        return "module"
    if name.startswith("torch.optim."):
        return "optimizer"
    last = name.rsplit(".", 1)[-1]
    if last in _BY_LAST_NAME:
        return _BY_LAST_NAME[last]
    if last.endswith(("PreTrainedModel", "LightningModule")):
        return "module"
    if last.endswith(("Dataset", "ImageProcessor", "FeatureExtractor", "Processor", "Tokenizer", "Sampler")):
        return "host"
    return None
