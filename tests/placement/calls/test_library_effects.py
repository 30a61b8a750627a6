"""Each effect of a library's table: what a call with it gives, where that is, and what it meets."""

from __future__ import annotations

from devlint.placement.domain.abstract_values import Host, Instance, Module, Opaque, Tensor, UnknownValue
from devlint.placement.domain.events import HostRead
from tests.placement.walked import IMPORTS, clashes, device, events_of, place, stored


def of(imports: str, program: str, target: str = "y") -> str:
    return device(f"def f(x: torch.Tensor, net: nn.Module, d: torch.device, loader, path):\n    {program}\n", target,
                  IMPORTS + imports + "\n")  # fmt: skip


def value_of(imports: str, program: str, target: str = "y") -> object:
    program = f"def f(x: torch.Tensor, net: nn.Module, d: torch.device, loader, path):\n    {program}\n"
    return stored(program, target, IMPORTS + imports + "\n")


def test_same_gives_back_its_argument() -> None:
    assert of("from tqdm import tqdm", "y = tqdm(x.cuda())").startswith("cuda")
    assert of("import torch.ao.quantization as q", "y = q.convert(net.cuda())").startswith("cuda")


def test_same_of_a_method_gives_back_its_receiver() -> None:
    imports = "from torch.distributions import Normal"
    assert of(imports, "y = Normal(x.cuda(), 1.0).expand((3,)).sample()").startswith("cuda")


def test_made_is_on_the_cpu_or_where_an_argument_says() -> None:
    imports = "from safetensors.torch import load_file"
    assert of(imports, "y = load_file(path)") == "cpu"
    assert of(imports, "y = load_file(path, 'cuda:1')") == "cuda:1"
    assert of(imports, "y = load_file(path, device='cuda:1')") == "cuda:1"


def test_made_outside_of_factories_does_not_follow_the_default_device() -> None:
    program = "with torch.device('cuda'):\n        y = {}"
    assert of("import torchaudio", program.format("torchaudio.load(path)[0]")) == "cpu"
    bank = "torchaudio.functional.create_dct(13, 40, None)"
    assert of("import torchaudio", program.format(bank)).startswith("cuda")


def test_made_gives_a_tuple() -> None:
    imports = "import torchaudio"
    assert of(imports, "wave, rate = torchaudio.load(path)", "wave") == "cpu"
    assert isinstance(value_of(imports, "wave, rate = torchaudio.load(path)", "rate"), Host)


def test_beside_is_where_its_argument_is() -> None:
    assert of("from einops import rearrange", "y = rearrange(x.cuda(), 'a b -> b a')").startswith("cuda")
    assert of("from einops import pack", "y, s = pack([x.cuda(), x.cuda()], '* d')").startswith("cuda")
    assert isinstance(value_of("from einops import rearrange", "y = rearrange(path, 'a b -> b a')"), UnknownValue)


def test_meets_as_a_function_of_torch() -> None:
    program = "def f(x: torch.Tensor):\n    y = einsum({}, torch.eye(3), 'a b, b c -> a c')\n"
    imports = IMPORTS + "from einops import einsum\n"
    assert len(clashes(program.format("x"), imports)) == 1
    assert clashes(program.format("torch.ones(2, 3)"), imports) == []


def test_meets_as_an_operation_of_its_own() -> None:
    program = "def f(x: torch.Tensor):\n    y = fftconvolve(x, {}, mode='same')\n"
    imports = IMPORTS + "from torchaudio.functional import fftconvolve\n"
    assert len(clashes(program.format("torch.ones(5)"), imports)) == 1
    assert clashes(program.format("x.new_ones(5)"), imports) == []


def test_host_reads_its_arguments() -> None:
    program = "def f(x: torch.Tensor):\n    y = score(x.cuda(), [1])\n"
    imports = IMPORTS + "from sklearn.metrics import accuracy_score as score\n"
    reads = events_of(HostRead, program, imports)
    assert [(read.reader, read.wants_cpu) for read in reads] == [("sklearn.metrics.accuracy_score", True)]


def test_plain_reads_nothing() -> None:
    program = "def f(x: torch.Tensor):\n    y = asnumpy(x.cuda())\n"
    assert events_of(HostRead, program, IMPORTS + "from einops import asnumpy\n") == []
    assert isinstance(value_of("from einops import asnumpy", "y = asnumpy(x.cuda())"), Host)


def test_module_is_made_where_a_bare_factory_is() -> None:
    imports = "from torchvision.models import resnet18"
    found = value_of(imports, "y = resnet18()")
    assert isinstance(found, Module)
    assert (place(found), found.holds_state) == ("cpu", True)
    assert of(imports, "with torch.device('cuda'):\n        y = resnet18()").startswith("cuda")


def test_module_that_an_argument_places() -> None:
    imports = "from transformers import AutoModel"
    assert of(imports, "y = AutoModel.from_pretrained(path, device_map='cuda:1')") == "cuda:1"
    assert of(imports, "y = AutoModel.from_pretrained(path, device_map='auto')") == "an unknown device"
    assert of(imports, "y = AutoModel.from_pretrained(path, device_map=None)") == "cpu"
    assert of(imports, "y = AutoModel.from_pretrained(path, quantization_config=path)") == "an unknown device"


def test_placer_is_wherever_the_process_runs() -> None:
    imports = "from accelerate import Accelerator\nfrom lightning.fabric import Fabric"
    assert isinstance(value_of(imports, "y = Accelerator()"), Instance)
    assert isinstance(value_of(imports, "y = Accelerator(cpu=True)"), UnknownValue)
    assert isinstance(value_of(imports, "y = Accelerator(cpu=False)"), Instance)
    assert isinstance(value_of(imports, "y = Fabric(accelerator='cpu')"), UnknownValue)
    assert isinstance(value_of(imports, "y = Fabric(accelerator='gpu')"), Instance)


def test_placed_is_where_its_receiver_is() -> None:
    imports = "from lightning.fabric import Fabric"
    assert of(imports, "fabric = Fabric()\n    y = fabric.setup_module(net)") == "`fabric.device`"
    program = "fabric = Fabric()\n    y, o = fabric.setup(net, path)"
    assert of(imports, program) == "`fabric.device`"
    assert of(imports, "fabric = Fabric()\n    y = fabric.setup(net, move_to_device=False)") == "UnknownValue"


def test_placed_by_a_function_is_on_the_device_of_the_process() -> None:
    imports = "import ignite.distributed as idist\nimport deepspeed"
    placed = of(imports, "y = idist.auto_model(net)")
    assert placed == of(imports, "y = idist.device()")
    assert placed != of(imports, "y = deepspeed.initialize(model=net)[0]")


def test_moved_is_where_an_argument_says() -> None:
    imports = "from ignite.utils import convert_tensor\nfrom fastai.torch_core import to_device, to_cpu"
    assert of(imports, "y = convert_tensor(x, 'cuda:1')") == "cuda:1"
    assert of(imports, "y = convert_tensor(x)") == of("", "y = x")
    assert of(imports, "y = to_device(x, device='cuda:1')") == "cuda:1"
    assert of(imports, "y = to_cpu(x)") == "cpu"
    assert of(imports, "y = to_device(x)") == "`fastai's device`"


def test_object_is_placed_by_its_arguments() -> None:
    imports = "from torch.distributions import Normal"
    assert of(imports, "y = Normal(0.0, scale=x.cuda())").startswith("cuda")
    assert of(imports, "y = Normal(0.0, 1.0)") == "cpu"
    assert of(imports, "y = Normal(path, 1.0)") == "an unknown device"
    assert of(imports, "y = Normal(x.cuda(), 1.0).mean").startswith("cuda")


def test_there_is_where_its_receiver_is() -> None:
    imports = "from torch.distributions import Normal"
    found = value_of(imports, "y = Normal(x.cuda(), 1.0).rsample()")
    assert isinstance(found, Tensor)
    assert place(found).startswith("cuda")


def test_met_computes_with_its_argument() -> None:
    program = "def f(x: torch.Tensor):\n    y = Normal(x, 1.0).log_prob({})\n"
    imports = IMPORTS + "from torch.distributions import Normal\n"
    assert len(clashes(program.format("torch.ones(3)"), imports)) == 1
    assert clashes(program.format("x.exp()"), imports) == []
    assert clashes(program.format("torch.tensor(0.5)"), imports) == []


def test_call_is_the_call_of_its_module() -> None:
    program = "def f(x, d: torch.device):\n    m = Accuracy('binary'){}\n    y = m.update(x.to(d), x.to(d))\n"
    imports = IMPORTS + "from torchmetrics import Accuracy\n"
    assert len(clashes(program.format(""), imports)) == 1
    assert clashes(program.format(".to(d)"), imports) == []


def test_calls_hands_its_arguments_on() -> None:
    program = (
        "def g(x):\n    return x.cuda()\ndef f(x: torch.Tensor):\n    y = deepspeed.checkpointing.checkpoint(g, x)\n"
    )
    assert device(program, "y", IMPORTS + "import deepspeed\n").startswith("cuda")


def test_context_of_no_known_place() -> None:
    program = "with {}:\n        y = torch.ones(3)"
    imports = "import deepspeed\nfrom accelerate import init_empty_weights, init_on_device"
    assert of(imports, program.format("deepspeed.zero.Init()")) == "an unknown device"
    assert of(imports, program.format("init_empty_weights()")) == "an unknown device"
    assert of(imports, program.format("init_on_device('cuda:1')")) == "cuda:1"
    assert of(imports, "y = torch.ones(3)") == "cpu"


def test_context_of_a_receiver() -> None:
    program = "fabric = Fabric()\n    with fabric.init_module():\n        y = nn.Linear(3, 3)"
    assert of("from lightning.fabric import Fabric", program) == "`fabric.device`"


def test_device_is_that_of_the_process() -> None:
    imports = "import ignite.distributed as idist"
    assert of(imports, "y = torch.ones(3, device=idist.device())") == of(imports, "y = idist.device()")


def test_a_keyword_tells_of_any_call() -> None:
    found = value_of("", "y = loader(path, return_tensors='pt')")
    assert isinstance(found, Opaque)
    assert place(found) == "cpu"
    assert not isinstance(value_of("", "y = loader(path, return_tensors='np')"), Tensor)


def test_an_object_is_called_by_its_table() -> None:
    assert of("from torchvision import transforms", "y = transforms.ToTensor()(path)") == "cpu"
    assert isinstance(value_of("from transformers import pipeline", "y = pipeline('x')(path)"), Host)
