"""Why a parameter counts as a tensor."""

from __future__ import annotations

import pytest

from devlint.placement.domain.abstract_values import (
    Container,
    DeviceName,
    Evidence,
    Host,
    Module,
    Opaque,
    Tensor,
    Value,
)
from tests.placement.walked import device, events, stored


def held(parameter: str, body: str = "pass") -> Value:
    """What a parameter ``x`` holds at the beginning of a function with this body."""
    return stored(f"from typing import *\ndef f({parameter}):\n    y = x\n    {body}\n", "y")


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [
        ("torch.Tensor", Tensor),
        ('"torch.Tensor"', Tensor),
        ("Tensor | None", Tensor),
        ("Optional[torch.LongTensor]", Tensor),
        ("list[torch.Tensor]", Container),
        ("Dict[str, Tensor]", Container),
        ("List[Tensor]", Container),
        ('Float[Tensor, "batch channels"]', Tensor),
        ("Annotated[Tensor, 3]", Tensor),
        ("Iterator[Tensor]", Container),
        ("Activation[Tensor]", Opaque),
        ('"spec.Activation[Tensor]"', Opaque),
        ("DataLoader[Tensor]", Opaque),
        ("Registry[str, nn.Module]", Opaque),
        ("Union[Tensor, np.ndarray]", Opaque),
        ("Union[float, Tensor]", Opaque),
        ("Callable[[Tensor], Tensor]", Host),
        ("np.ndarray", Host),
        ("nn.Module", Module),
        ("torch.device", DeviceName),
        ("DeviceLikeType", DeviceName),
        ("int", Host),
        ("Optional[str]", Host),
        ("Tuple[int, ...]", Host),
        ("Whatever", Opaque),
    ],
)
def test_annotations_tell(annotation: str, kind: type) -> None:
    assert isinstance(held(f"x: {annotation}"), kind)


@pytest.mark.parametrize(
    "use", ["x.unsqueeze(0)", "x.is_cuda", "x.requires_grad", "torch.exp(x)", "F.relu(x)", "torch.cat([x, z])",
            "torch.matmul(input=x, other=z)", "x.masked_fill(z, 0)", "x.t()", "x.scatter_add(0, z, z)"],
)  # fmt: skip
def test_uses_that_only_tensors_allow_tell(use: str) -> None:
    assert isinstance(held("x, z", use), Tensor)


@pytest.mark.parametrize(
    "use", ["x.shape", "x.sum()", "print(x)", "torch.add(z, x)", "np.exp(x)", "x[0]", "x.anything()",
            "torch.full(3, x)", "unknown(x)", "x.t('title')"],
)  # fmt: skip
def test_uses_that_others_share_tell_nothing(use: str) -> None:
    assert isinstance(held("x, z: torch.Tensor", use), Opaque)


@pytest.mark.parametrize("use", ["torch.from_numpy(x)", "x.astype(int)", "torch.tensor(x)"])
def test_what_is_converted_to_a_tensor_was_none(use: str) -> None:
    assert isinstance(held("x", f"{use}; x.exp()"), Opaque)


@pytest.mark.parametrize("use", ["torch.zeros(x)", "torch.arange(0, x)", "nn.Linear(x, x)", "torch.ones((2, x))"])
def test_sizes_of_what_is_made_are_plain_values(use: str) -> None:
    assert isinstance(held("x", use), Host)
    assert isinstance(held("x", f"{use}; x.exp()"), Tensor)


NO_ARRAYS = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"


def of(name: str, body: str = "pass", imports: str = NO_ARRAYS, more: str = "") -> Value:
    """What a parameter of that name holds, in a file that works with tensors alone."""
    return stored(f"def f({name}{more}):\n    kept = {name}\n    {body}\n", "kept", imports)


def is_taken_for_a_tensor(value: Value) -> bool:
    return (isinstance(value, Tensor) and value.evidence is Evidence.LIKELY) or (
        isinstance(value, Opaque) and value.tensorlike
    )


@pytest.mark.parametrize(
    "use",
    [
        *("given.shape", "given.dtype", "given[:, 0]", "given[..., None, 1]", "given.reshape(2, -1)", "given.float()"),
        *("(given == 1).any()", "large = given > 3; given[large]", "given[given != 0]"),
    ],
)
def test_what_has_a_shape_is_a_tensor_where_there_are_no_arrays(use: str) -> None:
    assert is_taken_for_a_tensor(of("given", use))


@pytest.mark.parametrize(
    ("use", "imports"),
    [
        ("given.shape", NO_ARRAYS + "import numpy as np\n"),
        ("given[:, 0]", NO_ARRAYS + "from PIL import Image\n"),
        ("given.shape; isinstance(given, Image)", NO_ARRAYS),
        ("given.shape; given.pages()", NO_ARRAYS),
        ("given.shape; given['key']", NO_ARRAYS),
        ("given.shape; given(1)", NO_ARRAYS),
        ("given[0]", NO_ARRAYS),
        ("given[1:]", NO_ARRAYS),
        ("large = 3; given[large]", NO_ARRAYS),
        ("given.mean(dim='time'); given.shape", NO_ARRAYS),
    ],
)
def test_a_shape_tells_nothing_beside_arrays_and_against_what_is_known(use: str, imports: str) -> None:
    assert not is_taken_for_a_tensor(of("given", use, imports))


ARRAYS = NO_ARRAYS + "import numpy as np\n"


@pytest.mark.parametrize(
    ("use", "told"),
    [
        ("torch.save(given.shape, 'f')", True),
        ("y = nn.Linear(given.shape[0], 2)", True),
        ("F.relu(nn.Parameter(None)); given[:, 0]", True),
        # Of a function that works with arrays, or names no torch, nobody knows.
        ("torch.save(given.shape, 'f'); np.ones(3)", False),
        ("y = given.shape", False),
    ],
)
def test_arrays_of_the_file_count_where_a_function_works_with_them(use: str, told: bool) -> None:
    assert is_taken_for_a_tensor(of("given", use, ARRAYS)) is told


@pytest.mark.parametrize("name", ["x", "hidden_states", "attention_mask", "pixel_values", "src_mask", "logits"])
def test_names_of_tensors_tell_where_nothing_else_does(name: str) -> None:
    assert is_taken_for_a_tensor(of(name))
    assert not is_taken_for_a_tensor(of(name, f"{name}['key']"))
    assert not is_taken_for_a_tensor(of(name, f"{name}.pages()"))
    assert not is_taken_for_a_tensor(of(name, f"isinstance({name}, str)"))
    assert not is_taken_for_a_tensor(of(name, f"print(f'{{{name}}}')"))
    assert not is_taken_for_a_tensor(of(name, f"torch.tensor({name})"))
    assert not is_taken_for_a_tensor(of(f"{name}: Whatever".split(":")[0], more="=3"))


@pytest.mark.parametrize(
    "use",
    [
        "if mask: pass", "assert mask", "mask or 3", "4 if mask else 3", "not mask", "3 in mask", "mask not in (3, 4)",
        "(a,) = mask", "[a] = mask", "[mask[key] for key in keys]", "a = mask[0], mask[1], mask[2]",
        "mask[::-1]", "a.view(mask, -1)", "nn.Conv2d(3, 3, 1, bias=mask)", "mask = torch.Size(mask); mask.numel()",
    ],
)  # fmt: skip
def test_a_name_tells_nothing_of_what_is_used_as_plain_values_are(use: str) -> None:
    assert not is_taken_for_a_tensor(of("mask", use))


@pytest.mark.parametrize(
    "use",
    [
        "if mask is None: pass", "mask[::2]", "self.view(mask, -1)", "a.view(mask)", "F.view(mask, 3)",
        "a = mask", "[mask[key] for key in range(3)]", "[mask[i] for i, _ in enumerate(a)]", "a = mask[0], mask[1]",
        "nn.Linear(3, 3, device=mask)", "assert mask is not None", "a[mask] == 3",
    ],
)  # fmt: skip
def test_a_name_tells_of_what_may_be_a_tensor(use: str) -> None:
    assert is_taken_for_a_tensor(of("mask", use))


def test_a_use_that_only_tensors_allow_tells_of_what_is_tested() -> None:
    assert isinstance(of("mask", "assert mask; mask.unsqueeze(0)"), Tensor)


def test_a_name_tells_nothing_beside_texts_and_arrays_of_other_libraries() -> None:
    assert is_taken_for_a_tensor(of("labels"))
    assert not is_taken_for_a_tensor(of("labels", more=", texts"))
    assert is_taken_for_a_tensor(of("logits", more=", texts"))
    assert is_taken_for_a_tensor(of("queries", imports=NO_ARRAYS + "import numpy as np\n"))
    assert not is_taken_for_a_tensor(of("queries", imports=NO_ARRAYS + "import jax.numpy as jnp\n"))


@pytest.mark.parametrize("imports", ["import mlx.core as mx\n", "from flax import nnx\n", "import keras\n"])
def test_a_file_for_another_framework_has_no_events(imports: str) -> None:
    program = "def f(given):\n    z = given.softmax(-1)\n    return z.numpy()\n"
    assert not events(program, imports)
    assert events(program, imports + "from arrays import *\n")  # which may bring PyTorch's names
    assert isinstance(of("given", "given.softmax(-1)", imports + NO_ARRAYS), Tensor)


def test_a_condition_of_where_is_no_number() -> None:
    assert isinstance(of("given", "torch.where(given, 0.0, 1.0)"), Tensor)
    assert not isinstance(of("given", "torch.where(z, given, 1.0)", more=", z"), Tensor)


def test_what_is_counted_per_something_is_a_number() -> None:
    assert isinstance(of("attn_head", "attn_head(3)"), Module)
    assert not isinstance(of("width_per_head"), Module)
    assert not isinstance(of("width_per_head", "self.part = width_per_head"), Module)


def test_a_model_that_tells_its_device_is_a_module() -> None:
    assert isinstance(of("base_model", "base_model.device"), Module)
    assert is_taken_for_a_tensor(of("given", "given.device"))


def test_groups_of_processes_have_a_size_as_well() -> None:
    assert is_taken_for_a_tensor(of("given", "given.size()"))
    assert not is_taken_for_a_tensor(of("pg", "pg.size()"))
    assert not is_taken_for_a_tensor(of("tp_mesh", "tp_mesh.size()"))
    assert isinstance(of("tp_mesh", "tp_mesh.size(0)"), Tensor)


def test_tensors_are_several() -> None:
    assert not is_taken_for_a_tensor(of("input_tensors", "len(input_tensors)"))


@pytest.mark.parametrize("use", ["(a,) = logits", "a, b = logits", "torch.add(*logits)"])
def test_what_is_unpacked_and_called_what_tensors_are_called_is_several(use: str) -> None:
    several = of("logits", use)
    assert isinstance(several, Container)
    assert all(map(is_taken_for_a_tensor, several.values))
    assert not isinstance(of("given", use.replace("logits", "given")), Container)


def test_what_is_subtracted_from_a_tensor_is_one() -> None:
    assert is_taken_for_a_tensor(of("given", "other.unsqueeze(0); other - given", more=", other"))
    assert is_taken_for_a_tensor(of("given", "other.unsqueeze(0); given - other", more=", other"))
    assert not is_taken_for_a_tensor(of("given", "other.unsqueeze(0); other + given", more=", other"))
    assert not is_taken_for_a_tensor(of("given", "other - given", more=", other"))
    assert not is_taken_for_a_tensor(of("given", "given = 3; other.unsqueeze(0); other - given", more=", other"))


def test_what_is_multiplied_as_a_matrix_is_a_tensor_where_there_are_no_arrays() -> None:
    assert is_taken_for_a_tensor(of("given", "given @ other", more=", other"))
    assert not is_taken_for_a_tensor(of("given", "given * other", more=", other"))
    assert not is_taken_for_a_tensor(of("given", "given @ other", NO_ARRAYS + "import numpy as np\n", ", other"))


def test_a_name_speaks_against_no_annotation_and_no_docstring() -> None:
    docstring = '"""Args:\n        logits (Table): anything.\n    """'
    program = f"def f(x: Whatever, logits):\n    {docstring}\n    a = x\n    b = logits\n"
    assert not is_taken_for_a_tensor(stored(program, "a", NO_ARRAYS))
    assert not is_taken_for_a_tensor(stored(program, "b", NO_ARRAYS))


def test_names_that_arrays_have_as_well_tell_nothing_beside_them() -> None:
    assert not is_taken_for_a_tensor(of("x", imports=NO_ARRAYS + "import numpy as np\n"))
    assert is_taken_for_a_tensor(of("hidden_states", imports=NO_ARRAYS + "import numpy as np\n"))


def test_what_a_metric_compares_is_a_tensor_beside_the_other() -> None:
    assert is_taken_for_a_tensor(of("target", more=", preds"))
    assert not is_taken_for_a_tensor(of("target", more=", connections"))


@pytest.mark.parametrize("name", ["num_heads", "hidden_size", "return_mask", "batch_idx", "is_training"])
def test_names_of_plain_values_tell(name: str) -> None:
    assert isinstance(of(name), Host)


@pytest.mark.parametrize("name", ["gm", "model", "teacher_model", "embedding_net_x", "backbone"])
def test_names_of_modules_tell(name: str) -> None:
    assert isinstance(of(name), Module)
    assert isinstance(of(name, f"{name}.parts()"), Module)
    assert isinstance(of("model_name"), Host)


def test_what_has_a_state_and_is_no_module() -> None:
    assert not isinstance(of("optimizer", "optimizer.load_state_dict({})"), Module)
    assert isinstance(of("other", "other.load_state_dict({})"), Module)


def test_a_default_that_is_a_module_tells_a_module() -> None:
    assert isinstance(of("activation", more="=nn.ReLU()"), Module)
    assert isinstance(of("activation", more="=make()"), Host)


def test_items_that_are_used_as_tensors_tell() -> None:
    value = of("given", "for one in given: one.unsqueeze(0)")
    assert isinstance(value, Container)
    assert isinstance(value.rest, Tensor)
    assert isinstance(of("given", "[one.unsqueeze(0) for one in given]"), Container)
    assert not isinstance(of("given", "for one in given: one.to('cuda').unsqueeze(0)"), Container)
    assert not isinstance(of("loader", "for one in loader: one.unsqueeze(0)"), Container)


def test_the_docstring_of_the_class_tells_of_its_constructor() -> None:
    program = '''
    class Loss:
        """Args:
            scale (torch.Tensor): one for each class.
            inner (nn.Module): what it is computed by.
        """
        def __init__(self, scale, inner):
            a, b = scale, inner
    '''
    assert is_taken_for_a_tensor(stored(program, "a", NO_ARRAYS))
    assert isinstance(stored(program, "b", NO_ARRAYS), Module)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("given: Boolean tensor of shape (N, D).", True),
        (":param given: the tensor of leaks.", True),
        ("given: List of tensors.", False),
        ("given: a tensor or a number.", False),
        ("given: whether a tensor is returned.", False),
        ("given: the shape of a tensor.", False),
    ],
)
def test_prose_tells_of_a_tensor(text: str, told: bool) -> None:
    program = f'def f(given):\n    """What it does.\n\n    {text}\n    """\n    kept = given\n'
    assert is_taken_for_a_tensor(stored(program, "kept", NO_ARRAYS)) == told


def test_a_parameter_is_what_the_function_takes_it_for_that_it_is_handed_to() -> None:
    program = """
    def inner(rows, network, size):
        network.load_state_dict({})
        return rows.unsqueeze(0)

    def outer(given, other):
        return inner(given, other, 3)

    class Net:
        def part(self, given):
            return self.rest(1, rows=given)

        def rest(self, number, rows):
            return outer(rows, None)

        def around(self, given):
            return self.around_again(given)

        def around_again(self, given):
            return self.around(given)

    def h(first, second, third, fourth):
        a, b, c, d = first, second, third, fourth
        outer(first, second)
        Net().part(third)
        inner(fourth, 1, 2)
        wholly_unknown(fourth)

    def both(given):
        e = given
        inner(given, 1, 2)
        inner(1, given, 2)
    """
    assert is_taken_for_a_tensor(stored(program, "a", NO_ARRAYS))
    assert isinstance(stored(program, "b", NO_ARRAYS), Module)
    assert not is_taken_for_a_tensor(stored(program, "c", NO_ARRAYS))
    assert is_taken_for_a_tensor(stored(program, "d", NO_ARRAYS))
    assert not is_taken_for_a_tensor(stored(program, "e", NO_ARRAYS))


def test_a_name_speaks_against_no_callee() -> None:
    program = """
    def lengths_of(rows):
        return len(rows)

    def f(seq_lens, query_lens):
        a, b = seq_lens, query_lens
        lengths_of(seq_lens)
    """
    assert not is_taken_for_a_tensor(stored(program, "a", NO_ARRAYS))
    assert is_taken_for_a_tensor(stored(program, "b", NO_ARRAYS))


@pytest.mark.parametrize("name", ["n_wins", "max_len", "hidden_size"])
def test_what_has_items_or_attributes_is_no_number_whatever_it_is_called(name: str) -> None:
    assert isinstance(of(name), Host)
    for use in (f"{name}[0]", f"{name}[:, None]", f"{name}.max()"):
        assert not isinstance(of(name, use), Host)


def test_a_device_that_is_read_is_weak_evidence() -> None:
    value = held("x", "x.device")
    assert isinstance(value, Tensor)
    assert value.evidence.value == "likely"


def test_methods_of_modules_tell_a_module() -> None:
    assert isinstance(held("x", "x.parameters()"), Module)
    assert isinstance(held("x", "x.state_dict()"), Module)


def test_names_tell_devices_and_plain_values() -> None:
    program = """
    def f(device, target_device, dim, n, path):
        a, b, c, d, e = device, target_device, dim, n, path
    """
    assert [type(stored(program, name)) for name in "abcde"] == [DeviceName, DeviceName, Host, Host, Host]


def test_a_tensor_called_device_is_a_tensor() -> None:
    assert isinstance(stored("def f(device):\n    y = device\n    device.unsqueeze(0)\n", "y"), Tensor)


def test_a_default_that_is_no_none_tells_a_plain_value() -> None:
    assert isinstance(held("x=3"), Host)
    assert isinstance(held("x=None"), Opaque)


def test_forwards_inputs_are_tensors_by_convention() -> None:
    program = """
    class Net(nn.Module):
        def forward(self, x, *rest, **options):
            y = x
            z = rest
            w = options
    """
    assert device(program) == "the module's device"
    assert isinstance(stored(program, "z"), Container)
    assert isinstance(stored(program, "w"), Container)


def test_the_context_of_an_autograd_function_is_anything() -> None:
    program = """
    class Step(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = ctx
            z = x
    """
    assert device(program) == "UnknownValue"
    assert device(program, "z") == "the device of `x`"


def test_the_batch_of_a_lightning_step_sits_with_the_module() -> None:
    program = """
    import pytorch_lightning as pl

    class Net(pl.LightningModule):
        def training_step(self, batch, index):
            y = batch
    """
    assert device(program) == "the module's device"


def kept(body: str, elsewhere: str = "pass", base: str = "nn.Module") -> Value:
    """What the parameter ``x`` of a constructor holds, whose class has another method as well."""
    return stored(
        f"class Owner({base}):\n    def __init__(self, x=None):\n        y = x\n        {body}\n"
        f"    def forward(self, batch):\n        {elsewhere}\n",
        "y",
    )


@pytest.mark.parametrize(
    ("body", "elsewhere"),
    [
        ("self.net = x; self.net.eval()", "pass"),
        ("self.net = x", "self.net.train()"),
        ("self.net = x", "return list(self.net.parameters())"),
        ("self.net = x", "return self.net(batch)"),
        ("self.net = x or nn.Linear(3, 3)", "pass"),
        ("self.net = x if x is not None else nn.Linear(3, 3)", "pass"),
        ("self.net = nn.Linear(3, 3) if x is None else x", "pass"),
    ],
)
def test_what_a_class_does_with_what_it_keeps_tells_of_a_module(body: str, elsewhere: str) -> None:
    assert isinstance(kept(body, elsewhere), Module)


@pytest.mark.parametrize(
    ("body", "elsewhere", "base"),
    [
        ("self.net = x", "return self.net.weight", "nn.Module"),
        ("self.net = x", "return self.net(batch)", "object"),
        ("self.net = x.copy()", "return self.net(batch)", "nn.Module"),
        ("self.net = x", "return self.net()", "nn.Module"),
        ("self.net = x or list()", "pass", "nn.Module"),
    ],
)
def test_what_may_be_anything_is_no_module(body: str, elsewhere: str, base: str) -> None:
    assert not isinstance(kept(body, elsewhere, base), Module)


def test_a_test_for_modules_alone_tells_of_one() -> None:
    assert isinstance(held("x", "assert not isinstance(x, (nn.Conv2d, nn.Linear)) or x.bias is None"), Module)
    assert not isinstance(held("x", "assert not isinstance(x, (nn.Conv2d, int)) or x.bias is None"), Module)


def test_what_is_joined_as_a_whole_is_a_list_of_tensors() -> None:
    assert isinstance(held("x", "torch.cat(x)"), Container)
    assert isinstance(held("x, z", "torch.cat([x, z])"), Tensor)


@pytest.mark.parametrize(
    ("use", "told"),
    [
        ("torch.exp(-0.5 * given * given)", True),
        ("torch.log10(given + self.eps)", True),
        ("torch.cos(given * math.pi / 180)", True),
        ("torch.cos(given * _DEG2RAD)", True),
        ("F.pad(given[None, None], (1, 1))", True),
        ("torch.exp(given[..., 0])", True),
        ("torch.exp(given[:, 1])", True),
        ("torch.sqrt(given[:, 0] * given[:, 0] + given[:, 1] ** 2)", True),
        ("torch.exp(given.sum(1) / (given + 1).mean())", True),
        ("given[i, j].detach()", True),
        ("given.shape; given[i].detach()", True),
        ("known = mask >= 0; F.relu(given[known])", True),
        ("known = ~mask; F.relu(given[known] - given[mask > 3])", True),
        ("mask.any() and torch.exp(given[mask])", True),
        ("buffer.copy_(given)", True),
        ("z.masked_fill(given, 0)", True),
        ("z.scatter_(0, index=given, value=1)", True),
        # The other operand may be the tensor, the item one of a list's, the value a number.
        ("torch.exp(given * z)", False),
        ("torch.exp(given.sum(1) * z.sum(1))", False),
        ("torch.exp(given[0])", False),
        ("given[i].detach()", False),
        ("torch.exp(given[z])", False),
        ("known = mask in z; torch.exp(given[known])", False),
        ("z.masked_fill(mask, given)", False),
        ("z.fill_(given)", False),
        ("z.read(given)", False),
    ],
)
def test_what_is_computed_of_a_parameter_or_read_by_a_tensor_tells(use: str, told: bool) -> None:
    value = stored(f"import math\ndef f(self, given, z, buffer, mask):\n    y = given\n    {use}\n", "y", NO_ARRAYS)
    assert is_taken_for_a_tensor(value) is told


@pytest.mark.parametrize(
    ("base", "call", "told"),
    [
        ("nn.Module", "self.encoder(given)", True),
        ("nn.Module", "self.heads(given, 3)", True),
        # Methods, functions, further arguments, and what keeps no parts.
        ("nn.Module", "self.encode(given)", False),
        ("nn.Module", "self.metrics_fn(given)", False),
        ("nn.Module", "self.encoder(3, given)", False),
        ("nn.Module", "self.encoder.encode(given)", False),
        ("nn.Module", "self.encoder(given); given['ids']", False),
        ("object", "self.stage(given)", False),
        # What is called as modules are is one in any class; what may be a text, a graph or a batch is asked no further.
        ("object", "self.encoder(given)", True),
        ("object", "self.policy.out_proj(given)", True),
        ("object", "model(given)", True),
        ("object", "model(3, given)", False),
        ("object", "model.generate(given)", False),
        ("object", "self.model_fn(given)", False),
    ],
)
def test_what_a_module_hands_to_a_part_is_a_tensor(base: str, call: str, told: bool) -> None:
    program = f"""
    class Net({base}):
        def encode(self, given):
            return given

        def policy(self, given):
            y = given
            {call}
    """
    assert is_taken_for_a_tensor(stored(program, "y", NO_ARRAYS)) is told


def test_a_parameter_is_what_all_overrides_of_the_file_take_it_for() -> None:
    program = """
    class Noise:
        def apply(self, curves, scale):
            a = curves
            b = scale
            raise NotImplementedError

    class Gaussian(Noise):
        def apply(self, curves, scale):
            return curves.unsqueeze(0) * scale.exp()

    class Exponential(Noise):
        def apply(self, curves, scale):
            return torch.exp(curves) * len(scale["of"])

    class Silent(Noise):
        def apply(self, curves, scale):
            c = curves
            return c
    """
    assert is_taken_for_a_tensor(stored(program, "a", NO_ARRAYS))
    assert not is_taken_for_a_tensor(stored(program, "b", NO_ARRAYS))
    assert is_taken_for_a_tensor(stored(program, "c", NO_ARRAYS))


@pytest.mark.parametrize(
    ("parameter", "kind"),
    [
        ("map_location", DeviceName),
        ('map_location="cpu"', DeviceName),
        ("location", Opaque),
        ("actor_head", Module),
        ("critic", Module),
        ("heads", Host),
        ("header", Opaque),
        ("critics", Opaque),
    ],
)
def test_names_of_devices_and_parts_tell(parameter: str, kind: type) -> None:
    name = parameter.partition("=")[0]
    assert isinstance(stored(f"def f({parameter}):\n    y = {name}\n", "y"), kind)


@pytest.mark.parametrize(
    ("use", "told"),
    [
        ("z = nn.Sequential(x, nn.ReLU())", True),
        ("z = nn.Sequential(*[copy.deepcopy(x)])", False),
        ("z = nn.ModuleList([copy.deepcopy(x) for _ in range(3)])", True),
        ("z = nn.ModuleList([x, nn.ReLU()])", True),
        ("z = nn.ModuleList(x)", False),
        ("z.add_module('last', x)", True),
        ("z.add(x)", False),
        ("z = nn.DataParallel(x, [0, 1])", True),
        ("z = nn.DataParallel(z, x)", False),
        ("z = torch.func.functional_call(x, z)", True),
        ("z = nn.Linear(x.in_features, x.out_features)", True),
        ("z = x.running_mean", True),
        ("z = x.forward", True),
        ("assert isinstance(x, nn.Module)", True),
        ("assert isinstance(x, (list, nn.Module))", False),
        ("z = F.linear(z, x.weight, x.bias)", True),
        ("z = F.linear(z, x.weight)", False),
        ("z = x.features", False),
        ("x.to(z); x.actor.parameters()", True),
        ("x(z); list(x.head.parameters())", True),
        ("list(x.head.parameters())", False),
        ("x.actor.step(); x.to(z)", False),
    ],
)
def test_what_modules_alone_are_given_to_and_have_tells(use: str, told: bool) -> None:
    value = stored(f"import copy\ndef f(x, z):\n    y = x\n    {use}\n", "y")
    assert isinstance(value, Module) is told


@pytest.mark.parametrize(
    ("name", "use", "told"),
    [
        ("classifier", "classifier(z)", True),
        ("conv1", "conv1(z)", True),
        ("out_proj", "out_proj(z)", True),
        # A name that is not called says nothing, another name nothing of what is called.
        ("classifier", "z.append(classifier)", False),
        ("reduce", "reduce(z)", False),
        ("conv_size", "conv_size(z)", False),
        # Bound anew, it is another value that is called.
        ("layer", "layer = z.pop(); layer(z)", False),
    ],
)
def test_what_is_called_like_a_part_is_a_module_if_it_is_called(name: str, use: str, told: bool) -> None:
    assert isinstance(stored(f"def f({name}, z):\n    y = {name}\n    {use}\n", "y"), Module) is told


@pytest.mark.parametrize("function", ["__init__", "_make_layer", "build_head"])
def test_what_is_called_where_modules_are_made_is_a_class(function: str) -> None:
    program = f"class Net(nn.Module):\n    def {function}(self, norm, z):\n        y = norm\n        z = norm(3)\n"
    assert not isinstance(stored(program, "y"), Module)


@pytest.mark.parametrize(("name", "told"), [("layer", True), ("conv2", True), ("text_encoder", True), ("edge", False)])
def test_what_is_called_like_a_part_has_a_weight(name: str, told: bool) -> None:
    assert isinstance(stored(f"def f({name}):\n    y = {name}\n    {name}.weight\n", "y"), Module) is told


@pytest.mark.parametrize(
    "name", ["root_path", "max_area", "fuse_encoder", "compile_model", "d_head", "crop_shape", "qkv_bias", "stage"]
)
def test_names_of_paths_switches_and_measures_are_plain_values(name: str) -> None:
    assert isinstance(stored(f"def f({name}):\n    y = {name}\n", "y", NO_ARRAYS), Host)
    assert isinstance(stored(f"def f({name}):\n    y = {name}\n    torch.exp({name})\n", "y", NO_ARRAYS), Tensor)


@pytest.mark.parametrize("name", ["_model", "model2", "model_a", "mod", "netG", "_net"])
def test_names_of_modules_may_be_numbered(name: str) -> None:
    assert isinstance(stored(f"def f({name}):\n    y = {name}\n", "y"), Module)
    assert not isinstance(stored(f"def f({name}_dir):\n    y = {name}_dir\n", "y"), Module)


@pytest.mark.parametrize(("name", "told"), [("module", True), ("_mod", True), ("pl_module", True), ("model", False)])
def test_a_module_by_its_full_name_may_be_asked_what_it_has(name: str, told: bool) -> None:
    value = stored(f"def f({name}):\n    y = {name}\n    hasattr({name}, 'head')\n", "y")
    assert isinstance(value, Module) is told


@pytest.mark.parametrize(
    ("use", "told"),
    [
        ("backbone == 'resnet18'", True),
        ("backbone in {'resnet18', 'resnet34'}", True),
        ("z = getattr(z, backbone)", True),
        ("z = timm.create_model(backbone)", True),
        ("z = named(backbone)", True),
        # It is asked for something of it; what it is bound to is compared.
        ("z = getattr(backbone, 'head')", False),
        ("z == backbone", False),
        ("backbone = z.name\n        z = backbone == 'resnet18'", False),
        ("z = placed(backbone)", False),
    ],
)
def test_a_text_is_no_module_whatever_it_is_called(use: str, told: bool) -> None:
    program = f"""
    import timm

    def named(backbone):
        return timm.create_model(backbone)

    def placed(backbone):
        return backbone.to("cuda")

    def f(backbone, z):
        y = backbone
        {use}
    """
    assert isinstance(stored(program, "y"), Host) is told


@pytest.mark.parametrize(
    ("parameter", "use", "told"),
    [
        ("cutout", "z.append(cutout)", True),
        ("cutout", "z.append(Cutout(cutout))", False),
        ("cutout", "z = 1 if cutout else 2", False),
        ("block", "z.append(block.expansion)", False),
        ("estimator", "z.append(estimator.log_rate)", True),
    ],
)
def test_what_is_called_after_a_class_and_makes_it_is_none_of_it(parameter: str, use: str, told: bool) -> None:
    program = f"""
    class Cutout(nn.Module):
        pass

    class BasicBlock(nn.Module):
        pass

    class RateEstimator(nn.Module):
        pass

    def f({parameter}, z):
        y = {parameter}
        {use}
    """
    assert isinstance(stored(program, "y"), Module) is told


def test_what_is_kept_after_a_method_that_gives_it_is_a_module() -> None:
    assert isinstance(kept("self.net = x.to('cuda').eval()", "self.net.train()"), Module)
    assert isinstance(kept("self.net = x.to('cuda')", "return self.net(batch)"), Module)
    assert not isinstance(kept("self.net = x.head('cuda')", "return self.net(batch)"), Module)


@pytest.mark.parametrize(
    ("use", "told"),
    [
        # What is made where none is given.
        ("if given is None:\n            given = torch.randn(3, 2)", True),
        ("if given is None:\n            given = torch.tensor([[0.0, 1.0]] * z).to(z.device)", True),
        ("if given is None:\n            given = torch.tensor(1.0)", False),
        ("if given is None:\n            given = z.bounds(3)", False),
        ("if given is None:\n            given = torch.Generator(z)", False),
        ("if z is None:\n            given = torch.randn(3, 2)", False),
        ("z = given if given is not None else torch.ones(3, 2).to(z.device)", True),
        ("z = nn.Parameter(torch.zeros(1, 1, 3)) if given is None else given", False),
        ("z = given if z is not None else torch.ones(3, 2)", False),
        ("z = len(given) if given is not None else torch.ones(3, 2)", False),
        # What is computed of it.
        ("given[:3].contiguous()", True),
        ("given[3].contiguous()", False),
        ("given[1:].append(3)", False),
        ("(given.abs() + 1e-6).pow(z)", True),
        ("(given / 3).unsqueeze(1)", True),
        ("(given > 0).float()", True),
        ("(given + z).unsqueeze(1)", False),
        ("given.to(z.device) * 3", True),
        ("z @ given.cpu()", True),
        ("given.load(z) * 3", False),
        ("given.to(torch.int64)", True),
        ("given.to(torch.float16)", False),
        ("given.type(torch.float32)", True),
        ("given.type('text')", False),
        # What takes tensors.
        ("torch.einsum('ij,jk->ik', z, given)", True),
        ("torch.maximum(z, given)", True),
        ("torch.linalg.solve(z, given)", True),
        ("F.linear(z, z, given)", True),
        ("torch.add(z, given)", False),
        ("torch.clamp(z, given)", False),
        ("z.log_prob(given)", True),
        ("z.probability(given)", False),
        ("z.movedim(given, 0)", False),
    ],
)
def test_more_that_is_done_with_tensors_alone_tells(use: str, told: bool) -> None:
    value = stored(f"class Loss:\n    def f(self, given, z):\n        y = given\n        {use}\n", "y", NO_ARRAYS)
    assert isinstance(value, Tensor) is told


@pytest.mark.parametrize(
    ("use", "told"),
    [
        ("torch.zeros(x.dim, device=x.device)", False),
        ("x.size = 3; torch.zeros(3, device=x.device)", False),
        ("torch.zeros(x.dim(), device=x.device)", True),
        ("torch.zeros(x.dim(), x.dim(), device=x.device)", True),
        ("torch.zeros(x.dim(), x.dim, device=x.device)", False),
    ],
)
def test_a_method_of_tensors_that_is_read_and_not_called_is_of_another_object(use: str, told: bool) -> None:
    assert isinstance(held("x", use), Tensor) is told


def test_the_name_of_what_a_constructor_hands_on_says_nothing() -> None:
    program = """
    class Net(nn.Module):
        def __init__(self, conv_bias, scale_bias):
            y = conv_bias
            z = scale_bias
            self.wide(conv_bias=conv_bias)
            self.shift(scale_bias)

        def wide(self, conv_bias):
            return nn.Conv2d(3, 3, 3, bias=conv_bias)

        def shift(self, scale_bias):
            return scale_bias.unsqueeze(0)
    """
    assert not is_taken_for_a_tensor(stored(program, "y", NO_ARRAYS))
    assert is_taken_for_a_tensor(stored(program, "z", NO_ARRAYS))


@pytest.mark.parametrize(
    ("callee", "told"),
    [("net", True), ("layer", True), ("conv", False), ("prepare_model", False), ("make_net", False)],
)
def test_what_makes_a_module_is_told_other_things(callee: str, told: bool) -> None:
    program = f"""
    from hub import make_net

    def prepare_model(token):
        return 3

    def f(token, {callee.replace("prepare_model", "z").replace("make_net", "z")}):
        y = token
        return {callee}(token)
    """
    assert is_taken_for_a_tensor(stored(program, "y", NO_ARRAYS)) is told


def test_what_an_item_of_itself_is_bound_to_says_nothing_of_the_whole() -> None:
    program = "def f(states, z):\n    y = states\n    states = states[0]\n    return torch.exp(states)\n"
    assert not isinstance(stored(program, "y", NO_ARRAYS), Tensor)
    assert isinstance(stored(program.replace("[0]", "[:, 0]"), "y", NO_ARRAYS), Tensor)
    shaped = program.replace("    states =", "    if states.ndim == 3:\n        states =")
    assert isinstance(stored(shaped, "y", NO_ARRAYS), Tensor)


@pytest.mark.parametrize(("name", "told"), [("frames", True), ("prompt", False), ("data", False), ("batch", False)])
def test_what_models_of_others_are_called_with_may_be_no_tensor(name: str, told: bool) -> None:
    value = stored(f"def f(model, {name}):\n    y = {name}\n    return model({name})\n", "y", NO_ARRAYS)
    assert is_taken_for_a_tensor(value) is told


@pytest.mark.parametrize(
    ("caller", "told"),
    [
        # What is given is certainly a tensor, by the caller's own uses or by what it is bound to.
        ("def run(self, x):\n        x.unsqueeze(0)\n        return self._step(x)", Tensor),
        ("def run(self):\n        x = torch.randn(3)\n        return self._step(given=x)", Tensor),
        ("def run(self, z):\n        x = z.softmax(-1)\n        return self._step(x)", Tensor),
        ("def run(self, net):\n        net.eval()\n        return self._step(net)", Module),
        # It may be another thing, or is one at another call.
        ("def run(self, x):\n        return self._step(x)", Opaque),
        ("def run(self, z):\n        x = torch.split(z, 3)\n        return self._step(x)", Opaque),
        ("def run(self, z):\n        x = torch.Generator()\n        return self._step(x)", Opaque),
        ("def run(self, z):\n        x = torch.exp(z)\n        x = z.items\n        return self._step(x)", Opaque),
        ("def run(self, x):\n        x.unsqueeze(0)\n        return self._step(3, x)", Opaque),
        ("def run(self, x, n=3):\n        x.unsqueeze(0)\n        return self._step(x), self._step(n)", Opaque),
        ("def run(self, x):\n        x.unsqueeze(0)\n        return self.step(x)", Opaque),
    ],
)
def test_a_private_method_is_given_what_its_callers_have(caller: str, told: type) -> None:
    program = f"""
class Solver:
    def _step(self, given, other=None):
        y = given
        return y

    def step(self, given):
        return given

    {caller}
"""
    assert isinstance(stored(program, "y", NO_ARRAYS), told)


@pytest.mark.parametrize(
    ("caller", "told"),
    [
        ("def run(x):\n    x.unsqueeze(0)\n    return _step(x)", Tensor),
        ("def run(x, n=3):\n    x.unsqueeze(0)\n    return _step(x), _step(n)", Opaque),
        ("def run(x):\n    return _step(x)", Opaque),
        ("class Net(torch.nn.Module):\n    def run(self):\n        return _step(self)", Module),
        ("class Net:\n    def run(self):\n        return _step(self)", Opaque),
        ("class Net(torch.nn.Module):\n    @classmethod\n    def run(cls):\n        return _step(cls)", Opaque),
        ("class Net(torch.nn.Module):\n    @staticmethod\n    def run(x):\n        return _step(x)", Opaque),
    ],
)
def test_a_private_function_is_given_what_its_callers_have(caller: str, told: type) -> None:
    program = f"def _step(given):\n    y = given\n    return y\n\n{caller}\n"
    assert isinstance(stored(program, "y", NO_ARRAYS), told)


def test_a_public_function_may_be_called_by_other_files() -> None:
    program = "def step(given):\n    y = given\n\ndef run(x):\n    x.unsqueeze(0)\n    return step(x)\n"
    assert isinstance(stored(program, "y", NO_ARRAYS), Opaque)


@pytest.mark.parametrize(
    ("base", "name", "told"),
    [
        ("torch.autograd.Function", "backward", True),
        ("torch.autograd.Function", "forward", False),
        ("object", "backward", False),
    ],
)
def test_autograd_hands_gradients_to_a_backward(base: str, name: str, told: bool) -> None:
    program = f"""
    class Scale({base}):
        @staticmethod
        def {name}(ctx, upstream):
            y = upstream
            return upstream * ctx.factor
    """
    assert is_taken_for_a_tensor(stored(program, "y", NO_ARRAYS)) is told


@pytest.mark.parametrize(
    ("use", "told"),
    [
        ("given - torch.exp(z)", True),
        ("z.softmax(-1) - given", True),
        ("given + torch.exp(z)", False),
        ("given - torch.zeros(3)", False),
        ("given - z.total()", False),
        ("given - torch.numel(z)", False),
    ],
)
def test_what_a_tensor_is_subtracted_from_is_one(use: str, told: bool) -> None:
    value = stored(f"def f(given, z):\n    y = given\n    {use}\n", "y", NO_ARRAYS)
    assert is_taken_for_a_tensor(value) is told


@pytest.mark.parametrize(
    ("use", "told"),
    [
        ("torch.sum(given * q)", True),
        ("torch.stack([given * q, q - given])", True),
        ("torch.linalg.norm(abs(q) + given)", False),
        ("(given * q).unsqueeze(0)", True),
        # One of them is a tensor for another reason: the other may be a number.
        ("torch.sum(given * q) + q.softmax(-1)", False),
        ("torch.sum(given * q[:, None] / q.shape[0])", False),
        ("torch.sum(given * q, dim=0) if q.is_cuda else 0", False),
        # Beside what is called as numbers are, it can only be this one.
        ("torch.sum(given * eps)", True),
        # A name of a tensor speaks for the other; a name that the body binds may be the tensor.
        ("logits = q; torch.sum(given * logits)", False),
        ("w = load(q); torch.sum(given * w)", False),
        # A number comes of numbers.
        ("max(given * q, 0)", False),
        ("torch.full((3,), given * q)", False),
    ],
)
def test_of_what_a_tensor_is_computed_is_a_tensor(use: str, told: bool) -> None:
    value = stored(f"def f(given, q, eps):\n    y = given\n    {use}\n", "y", NO_ARRAYS)
    assert is_taken_for_a_tensor(value) is told


@pytest.mark.parametrize("name", ["eps", "num_steps", "head_dim"])
def test_a_name_of_numbers_is_one_beside_what_is_computed_with_it(name: str) -> None:
    value = stored(f"def f(given, {name}):\n    y = {name}\n    torch.sum(given * {name})\n", "y", NO_ARRAYS)
    assert isinstance(value, Host)


def test_what_stands_in_a_function_overrides_nothing_outside_of_it() -> None:
    program = """
    class Noise:
        def apply(self, curves):
            a = curves
            raise NotImplementedError

    def made():
        class Gaussian(Noise):
            def apply(self, curves):
                return curves.unsqueeze(0)
    """
    assert not is_taken_for_a_tensor(stored(program, "a", NO_ARRAYS))


def test_what_is_made_where_none_is_given_may_be_converted_otherwise() -> None:
    program = """
    def cast(value):
        if isinstance(value, list):
            return torch.tensor(value)
        return value

    def f(scale=None):
        y = scale
        if scale is None:
            scale = torch.ones(3)
        else:
            scale = cast(scale)
    """
    assert not is_taken_for_a_tensor(stored(program, "y", NO_ARRAYS))
    assert is_taken_for_a_tensor(stored(program.replace("cast(scale)", "of_a_library(scale)"), "y", NO_ARRAYS))


@pytest.mark.parametrize(
    ("test", "told"),
    [
        ("x.shape == labels", False),
        ("labels != tuple(x.shape)", False),
        ("labels == [1, 2]", False),
        ("labels == (x, x)", False),
        ("x == labels", True),
        ("x.shape[0] == labels", True),
        ("labels == x.tolist()", True),
    ],
)
def test_what_is_compared_with_a_sequence_is_no_tensor(test: str, told: bool) -> None:
    value = stored(f"def f(x, labels):\n    y = labels\n    return {test}\n", "y", NO_ARRAYS)
    assert is_taken_for_a_tensor(value) is told


@pytest.mark.parametrize(("callee", "told"), [("torch.from_numpy(z)", False), ("z.unsqueeze(0)", True), ("z", True)])
def test_what_sizes_a_tensor_is_what_the_callee_takes_it_for(callee: str, told: bool) -> None:
    program = f"""
    def bring(z):
        return {callee}

    def f(given):
        y = given
        weights = torch.randn(given.shape[1])
        return bring(given) @ weights
    """
    assert is_taken_for_a_tensor(stored(program, "y", NO_ARRAYS)) is told


@pytest.mark.parametrize(("name", "told"), [("config", False), ("trainer", False), ("moved", True)])
def test_what_configures_has_a_device_and_is_no_tensor(name: str, told: bool) -> None:
    value = stored(f"def f({name}, z):\n    y = {name}\n    return z.to({name}.device)\n", "y", NO_ARRAYS)
    assert is_taken_for_a_tensor(value) is told
