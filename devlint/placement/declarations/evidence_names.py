"""Names of parameters: what is called so is a tensor, a module or a plain value as a rule.

A name speaks only where nothing else is known of the parameter: no annotation, no default, no telling use.

Source: the annotated parameters of 28 releases (`tests/benchmarks/conventions.py`), those of plain values of 32,
without their annotations, as far as no use of them told anything. Nine of ten or more of those called so are what is
said here, in most of the releases.
"""

from __future__ import annotations

import re
from collections.abc import Container
from functools import lru_cache

_TENSORS = frozenset(
    """
    x y z u x1 x2 xs input input_tensor tensor hidden_states encoder_hidden_states attention_mask attn_mask
    encoder_attention_mask padding_mask memory_mask pixel_values position_ids positions inputs_embeds latents
    feat feats embedding emb logits probs log_probs pred preds y_pred y_true y_hat prediction predictions targets labels
    mask image_embeddings input_lengths grad_output grad noise memory coords anchors cos sin X input_ids output queries
    condition image images img imgs video sample scores loss angle rel_pos rel_pos_h rel_pos_w v Y masks patches x_t
    log_prob
    """.split()
)
_TENSOR_STARTS = frozenset("rotary cos sin pixel x".split())
_TENSOR_ENDS = frozenset(
    """
    mask masks lens embeds embedding embeddings emb logits latents hidden residual residuals tensor probs bias pos pe
    feats sample idxs
    """.split()
)
_COMPARED = frozenset("target targets weight label labels".split())
_COMPARED_WITH = frozenset(
    "pred preds y_pred y_hat input logits x output outputs prediction predictions scores".split()
)

_OF_TEXTS = frozenset("token_type_ids decoder_input_ids segment_ids".split())
_OF_GRAPHS = frozenset("edge_index edge_attr edge_weight edge_type edges adj adj_t adjacency pos ptr".split())

_OF_ARRAYS_TOO = frozenset(
    """
    x y z u v X Y tensor mask masks labels input targets noise coords logits image images img imgs video sample output
    scores loss condition patches y_true y_pred y_hat pred preds prediction predictions probs positions anchors angle
    """.split()
)
_ENDS_OF_ARRAYS_TOO = frozenset({"logits", "probs", "mask", "masks", "embedding", "embeddings", "feats"})
"""Names that arrays and texts have as well, where a file works with those."""

_MODULES = frozenset(
    """
    model module mod gm net network netG netD encoder decoder backbone pl_module discriminator denoiser critic projector
    """.split()
)
_MODULE_ENDS = frozenset("model module net network backbone head encoder critic discriminator denoiser".split())

_PARTS = frozenset(
    """
    layer conv norm bn linear proj mlp attn attention embedder classifier regressor predictor estimator
    policy actor teacher student
    """.split()
)
_PART_ENDS = frozenset("layer conv linear proj mlp attn attention classifier".split())
"""What is called so and is called is a Module, outside of what builds one: there it is a class or a function."""

_PLAIN = frozenset(
    """
    name width height step epoch level rank channels heads resolution variant timeout strict training reduction version
    url batch_idx scale_factor lr n_samples iteration strides dilation d_model d_head drop_head pretrained path seed
    epsilon stride root inplace verbose prefix suffix padding depth filename filepath download dropout momentum stage
    in_features out_features in_chans in_planes planes hidden_features qkv_bias keepdim revision text normalize length
    maximize axis dims dimension ndim enabled top_k shuffle recurse layer_idx batch_first atol rtol overwrite msg title
    port arch nesterov antialias bidirectional directory description total global_step norm_type
    """.split()
)
_PLAIN_STARTS = frozenset(
    """
    num n non is has use return list dim dims ignore include requires convert normalize validate show save enable skip
    force max min allow dropout prune apply stop reset pin with warmup exclude no needs do disable raise compile wrap
    fuse freeze learning trust get auto tie keep store
    """.split()
)
_PLAIN_ENDS = frozenset(
    """
    size channels dim dims name names heads dir len length ratio decay width height groups frames only threshold seed
    workers level folder epoch path key id rate shape mode steps step dropout file rank epochs bins range blocking
    first iter iters iterations bar eps interval causal depth stride count version planes prefix backend root threads
    num multiplier fraction training reduction coef smoothing str url radius penalty port chans
    """.split()
)

_COLLECTIONS = frozenset("tensordict td batch batches ctx generator params kwargs datamodule data_module dm".split())

_FUNCTIONS = frozenset(
    "fn fun func function fns funcs transform transforms tokenizer callback hook cls class sampler schedule rng "
    "generator".split()
)

_KEEPERS_OF_STATE = frozenset(
    "optimizer optimizers optim opt scheduler sched scaler progress posterior dataset datamodule dm trainer".split()
)
"""They have a ``state_dict``, or learn, as Modules do."""


_KEPT = 4096
"""Answers that are kept: a project has few names of parameters, and each is asked for many times."""


def names_a_transform(name: str) -> bool:
    """Whether what prepares an image for a model is called so: ``preprocess``, ``test_transform``."""
    return not {"transform", "transforms", "preprocess"}.isdisjoint(name.lower().strip("_").split("_"))


def names_an_array(name: str) -> bool:
    """Whether arrays, images and texts are called so as well, where a file works with those."""
    return name in _OF_ARRAYS_TOO or _last(name) in _ENDS_OF_ARRAYS_TOO or name.startswith("x_")


@lru_cache(_KEPT)
def names_a_tensor(name: str) -> bool:
    return name in _TENSORS or _last(name) in _TENSOR_ENDS or ("_" in name and name.split("_")[0] in _TENSOR_STARTS)


def names_a_sibling(name: str) -> bool:
    """Whether a field is a tensor by its name, beside another one that is moved: ``graph.edge_index``."""
    return names_a_tensor(name) or name in _OF_GRAPHS or name in _OF_TEXTS or name in _COMPARED


_TARGETS = frozenset(
    "y ys yb ya label labels lbl target targets tgt truth gt gts groundtruth annotation annotations box boxes bbox "
    "bboxes".split()
)
_NO_TARGETS = frozenset("name names text texts path paths num n len length lengths meta metas info id ids".split())


def names_a_target(name: str) -> bool:
    """``y``, ``true_labels``, ``target_a``: what a loss compares scores with."""
    words = [_unnumbered(word) for word in name.lower().split("_")]
    return not _TARGETS.isdisjoint(words) and _NO_TARGETS.isdisjoint(words)


_TEXTS = frozenset("text texts sentence sentences prompt prompts document documents query_text".split())


def is_written(name: str, beside: Container[str]) -> bool:
    """``labels`` beside ``texts``: words, of a function that works with texts."""
    return name in ("label", "labels", "target", "targets") and any(other in beside for other in _TEXTS)


_WRITTEN = _TEXTS | frozenset(
    "sents captions strings names filename filenames file_name file_names path paths img_path img_paths urls".split()
)


def names_written_things(name: str) -> bool:
    """``for texts, labels in loader``: what a loader hands out as strings."""
    return name in _WRITTEN


_BUILT = frozenset("layer block stage head module model net network encoder decoder backbone conv".split())


def names_a_builder(function: str) -> bool:
    """``_make_layer(planes, conv_bias)``: what builds modules is told their sizes and switches."""
    verb, _, made = function.lstrip("_").partition("_")
    return verb == "build" or (verb == "make" and made.rpartition("_")[2].rstrip("s") in _BUILT)


def names_tensors(name: str) -> bool:
    """``tensors``, ``input_tensors``: several of them."""
    return name == "tensors" or _last(name) == "tensors"


def names_a_tokenizer(name: str) -> bool:
    return name.endswith("tokenizer")


_ENVIRONMENT = re.compile(r"(?:\w+_)?(?:env|envs|environment)(?:_\w+)?")
OBSERVING = frozenset({"reset", "step"})
"""Methods of simulated environments; what they give is on the host, arrays and numbers."""


def names_an_environment(name: str) -> bool:
    """``env``, ``eval_env``: a simulation that an agent acts in."""
    return _ENVIRONMENT.fullmatch(name) is not None


_OF_PROCESSES = frozenset("pg group mesh".split())


def names_processes(name: str) -> bool:
    """A group or mesh of torch.distributed, which has a ``size()``."""
    return name in _OF_PROCESSES or _last(name) in _OF_PROCESSES


def is_compared(name: str, beside: Container[str]) -> bool:
    """``target`` beside ``preds``: what a loss or a metric compares."""
    return name in _COMPARED and any(other in beside for other in _COMPARED_WITH)


@lru_cache(_KEPT)
def names_a_collection(name: str) -> bool:
    """A batch, a dict of tensors, a context: something that holds tensors, or none of them."""
    return name in _COLLECTIONS or not _COLLECTIONS.isdisjoint(name.split("_")[:1])


_MANY = (
    frozenset("data graph g sample samples inputs input_dict inputs_dict item items example examples".split()) | _TEXTS
)
"""Texts, and what may be a dict or a graph as well as a tensor."""


def holds_many(name: str) -> bool:
    """Whether what a model is called with is as often no tensor, if it is called so."""
    return name in _MANY or names_a_collection(name) or name.endswith(("_data", "_dict", "_inputs"))


@lru_cache(_KEPT)
def names_a_tensordict(name: str) -> bool:
    """``td``, ``tensordict_out``: its methods, shape and device are like those of a tensor, and it holds several."""
    words = name.strip("_").split("_")
    return any(word in ("td", "tensordict") for word in (words[0], words[-1])) and not names_a_plain_value(name)


def names_a_device(name: str) -> bool:
    """``map_location`` is what ``torch.load`` calls it, and whoever hands it on."""
    return name in ("device", "map_location") or name.endswith("_device")


@lru_cache(_KEPT)
def names_a_module(name: str) -> bool:
    """``model``, ``_module``, ``net2``, ``model_a``, ``text_encoder_model``."""
    name = _unnumbered(name)
    return name in _MODULES or _last(name) in _MODULE_ENDS


_MAKES = frozenset("get build create make load init setup prepare".split())
_ACTIONS = _MAKES | {"save", "set", "update"}


def names_an_action(name: str) -> bool:
    """``get_model``, ``load_net``: a method that gives or takes what the rest of its name says, and is none."""
    verb, _, rest = name.lstrip("_").partition("_")
    return bool(rest) and verb in _ACTIONS


_MAKING = _MAKES | {"construct", "instantiate", "new"}
_MADE_BY_NAME = frozenset(
    "model layer block head net network backbone conv linear mlp ffn submodule encoder decoder".split()
)
_ORIGINS = re.compile("_(?:from|by|with|for)_")


def names_a_maker(function: str) -> bool:
    """``build_model``, ``_make_layer``, ``create_encoder_from_config``: what it gives is a module.

    Source: the annotated results of 260 releases. In six packages of seven or more one of them is a Module where any
    of what such functions give is known.
    """
    verb, _, made = _ORIGINS.split(function.lstrip("_"))[0].partition("_")
    return verb in _MAKING and made.rpartition("_")[2] in _MADE_BY_NAME


_BRINGS = frozenset("cuda device gpu move place prepare put send to transfer".split())


def names_a_transfer(function: str) -> bool:
    """``send_to_device``, ``move_data``, ``to_cuda``: what it gives is what it was given, brought over."""
    return not _BRINGS.isdisjoint(function.lower().split("_"))


_CONSTRUCTORS = frozenset("build create load restore".split())


def names_a_constructor(class_method: str) -> bool:
    """``Net.from_pretrained``, ``Net.build``: a class method that gives an object of its class as a rule."""
    return class_method in _CONSTRUCTORS or class_method.startswith(("from_", "load_from_"))


@lru_cache(_KEPT)
def names_a_part(name: str) -> bool:
    """``conv1``, ``out_proj``: a part of a model, if it is called."""
    name = _unnumbered(name)
    return name in _PARTS or _last(name) in _PART_ENDS


def names_a_module_in_use(name: str) -> bool:
    """What is called so is called with data: ``layer(x)``, where ``conv(3, 3)`` may make one."""
    return names_a_module(name) or (names_a_part(name) and _unnumbered(name).rpartition("_")[2] not in _MADE)


def names_a_model_in_use(name: str) -> bool:
    """What is called so, and called with tensors, is a model that some object holds: ``pipe.transformer(x, t)``."""
    return names_a_module(name) or _unnumbered(name) in _HELD_MODELS


_HELD_MODELS = frozenset("transformer unet dit vae".split())
"""The parts of a pipeline, by the names that diffusers gives them (pipelines/pipeline_utils.py)."""


_MADE = frozenset("conv norm bn linear proj".split())
"""Names of parts that classes and functions have as well."""


@lru_cache(_KEPT)
def says_module(name: str) -> bool:
    """``module``, ``pl_module``: whatever it is asked for, it is one; a ``model`` may be of another library."""
    return _unnumbered(name).rpartition("_")[2] in ("module", "mod")


def _unnumbered(name: str) -> str:
    """``net2`` and ``_net`` as ``net``, ``model_a`` as ``model``."""
    name = name.lstrip("_").rstrip("0123456789_")
    return name[:-2] if name[-2:-1] == "_" else name


def names_a_function(name: str) -> bool:
    """A function, a class, a generator: what is called or drawn from, may have a device, and is no Module."""
    return name in _FUNCTIONS or _last(name) in _FUNCTIONS or name.endswith("fn")


def names_a_class(name: str) -> bool:
    """``block``, of ``_make_layer(block, planes)``: a class of layers, which is called to make them."""
    return name in _CLASSES


_CLASSES = frozenset({"block", "blocks", "layers", "norm_layer", "act_layer"})


def names_no_module(name: str) -> bool:
    """An optimizer, a scheduler, a counter of steps."""
    return name in _KEEPERS_OF_STATE or _last(name) in _KEEPERS_OF_STATE


_NUMBERS = frozenset("device_ids n num size dim eps shape dtype path filename seed".split())


def names_a_number(name: str) -> bool:
    """A number, a text or a shape, even where a part of it is read."""
    return name in _NUMBERS


@lru_cache(_KEPT)
def names_a_plain_value(name: str) -> bool:
    """A number, a text or a flag: ``num_heads``, ``hidden_size``, ``return_mask``."""
    first, _, rest = name.lstrip("_").partition("_")
    counted = "_per_" in name  # ``dim_per_head``
    return name in _PLAIN or (rest != "" and first in _PLAIN_STARTS) or _last(name) in _PLAIN_ENDS or counted


def _last(name: str) -> str:
    """What a name of several words ends with, but for a letter or a number; empty for a single word."""
    words = name.strip("_").split("_")
    if len(words) > 2 and len(words[-1]) == 1:
        words.pop()
    return words[-1] if len(words) > 1 else ""
