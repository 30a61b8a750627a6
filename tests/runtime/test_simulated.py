"""What a simulated machine answers, claims and refuses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from devlint.runtime.simulated import NotSimulated, simulate

CPU = torch.device("cpu")
ZERO, ONE = torch.device("cuda:0"), torch.device("cuda:1")


def test_every_form_of_to() -> None:
    with simulate():
        h = torch.ones(2)
        c = h.cuda(1)
        assert [h.to(x).device for x in ("cuda", "cuda:1", 1, ONE, c)] == [ZERO, ONE, ONE, ONE, ONE]
        moved = h.to(ONE, torch.float64, non_blocking=True)
        assert (moved.device, moved.dtype) == (ONE, torch.float64)
        moved = h.to(device="cuda", dtype=torch.int32, copy=True)
        assert (moved.device, moved.dtype) == (ZERO, torch.int32)
        assert (h.to(c.double()).device, h.to(c.double()).dtype) == (ONE, torch.float64)
        assert c.to(ONE) is c
        assert c.to("cuda:1", copy=True) is not c
        assert c.to(torch.float32) is c
        assert c.half().device == ONE
        assert h.cpu() is h
        assert c.cpu().device == CPU
        assert c.to("cpu").device == CPU
        assert c.type_as(h).device == CPU
        assert h.to(memory_format=torch.contiguous_format) is h


def test_current_device_contexts_and_defaults() -> None:
    with simulate():
        assert torch.cuda.current_device() == 0
        with torch.cuda.device(1):
            assert torch.ones(1).cuda().device == ONE
            assert torch.zeros(1).device == CPU
        torch.cuda.set_device("cuda:1")
        assert torch.zeros(1, device="cuda").device == ONE
        with torch.device("cuda:0"):
            assert torch.zeros(1).device == ZERO
            assert nn.Linear(2, 2).weight.device == ZERO
            assert torch.tensor([1.0]).device == ZERO
            assert torch.from_numpy(np.ones(2)).device == CPU
            with torch.device("cpu"):
                assert torch.zeros(1).device == CPU
        torch.set_default_device("cuda")
        try:
            assert torch.arange(3).device == ONE
            assert torch.get_default_device() == ONE
        finally:
            torch.set_default_device(None)
        assert torch.zeros(1).device == CPU
        with torch.accelerator.device_index(0):
            assert torch.accelerator.current_device_index() == 0
    assert not torch.cuda.is_available()


def test_factories_by_string_integer_and_object() -> None:
    with simulate():
        for device in ("cuda:1", 1, ONE):
            for made in (
                torch.zeros(2, device=device),
                torch.tensor([1.0], device=device),
                torch.randn(2, device=device),
                torch.arange(3, device=device),
                torch.randperm(3, device=device),
                torch.full((2,), 1.0, device=device),
                torch.zeros(2).new_zeros(2, device=device),
                torch.zeros_like(torch.zeros(2), device=device),
                torch.as_tensor(torch.zeros(2), device=device),
                torch.empty(0, device=device),
            ):
                assert made.device == ONE
        c = torch.ones(2, device=1)
        for made in (c.new_tensor([1.0]), c.new_zeros(2), torch.ones_like(c), torch.rand_like(c), c.new_empty(0)):
            assert made.device == ONE
        assert torch.tensor(c).device == ONE
        assert torch.as_tensor(c) is c
        assert torch.nn.Parameter(c).device == ONE
        assert torch.tensor([c[0], c[1]]).device == CPU
        assert torch.device(1) == ONE


def test_views_parameters_and_data_carry_the_claim() -> None:
    with simulate():
        c = torch.arange(6.0).cuda()
        for seen in (c.view(2, 3), c[1:3], c.detach(), c.data, c[None], c.unbind()[0], nn.Parameter(c)):
            assert seen.device == ZERO
            assert seen.is_cuda
            assert not seen.is_cpu
            assert seen.get_device() == 0
        p = nn.Parameter(torch.zeros(6))
        p.data = c
        assert p.device == ZERO
        assert F.one_hot(torch.tensor([0, 1]).cuda()).device == ZERO
        assert "device='cuda:0'" in repr(c)


def test_an_address_used_again_inherits_no_claim() -> None:
    with simulate():
        for _ in range(200):
            torch.empty(0).cuda()
            assert torch.empty(0).device == CPU
            torch.ones(5).cuda()
            assert torch.ones(5).device == CPU


def test_type_names() -> None:
    with simulate():
        c = torch.ones(2).cuda()
        assert c.type() == "torch.cuda.FloatTensor"
        assert torch.ones(2).type("torch.cuda.HalfTensor").type() == "torch.cuda.HalfTensor"
        assert torch.ones(2).type(torch.cuda.LongTensor).device == ZERO
        assert isinstance(c, torch.cuda.FloatTensor)
        assert not isinstance(torch.ones(1), torch.cuda.FloatTensor)
        assert torch.cuda.FloatTensor(2, 3).device == ZERO
        torch.set_default_tensor_type("torch.cuda.FloatTensor")
        assert torch.ones(2, 3).device == ZERO
    assert torch.ones(1).dtype == torch.float32


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda c: c.numpy(), "can't convert cuda:0 device type tensor to numpy"),
        (lambda c: np.asarray(c), "can't convert cuda:0"),
        (lambda c: np.ones(2) + np.array(c), "can't convert cuda:0"),
        (lambda c: c.pin_memory(), "cannot pin 'torch.cuda.FloatTensor'"),
        (
            lambda c: nn.LSTM(2, 2).cuda()(c.view(1, 1, 2), (torch.zeros(1, 1, 2), torch.zeros(1, 1, 2))),
            "Input and hidden",
        ),
        (lambda c: nn.GRU(2, 2)(c.view(1, 1, 2)), "Input and (parameter|hidden) tensors are not at the same device"),
        (lambda c: nn.Conv1d(1, 1, 1).cuda()(torch.ones(1, 1, 2)), r"Input type \(torch.FloatTensor\) and weight type"),
        (lambda c: setattr(torch.ones(2, requires_grad=True), "grad", c), "attempting to assign a gradient"),
        (lambda c: c.to("cuda:7"), "invalid device ordinal"),
        (lambda c: torch.zeros(1, device="cuda:2"), "invalid device ordinal"),
        (lambda c: torch.zeros(1).to("mps"), "MPS|mps"),
        (lambda c: torch.randperm(3, generator=torch.Generator("cuda")), "Expected a 'cpu' device type for generator"),
        (lambda c: c.normal_(generator=torch.Generator()), "Expected a 'cuda' device type for generator"),
        (lambda c: torch.Tensor([1.0], device="cuda"), "legacy constructor expects device type"),
        (lambda c: torch.cuda.get_device_properties(5), "Invalid device id"),
        (lambda c: nn.Embedding(3, 2).cuda()(torch.tensor([1])), "same device"),
        (lambda c: F.cross_entropy(torch.ones(2, 3).cuda(), torch.tensor([0, 1])), "same device"),
        (lambda c: torch.sparse_coo_tensor([[0, 1]], [1.0, 2.0]).cuda() @ torch.ones(2, 1), "same device|CPU tensor"),
    ],
)
def test_what_cuda_refuses_is_refused(attempt: Any, message: str) -> None:
    with simulate(), pytest.raises((RuntimeError, TypeError, AssertionError), match=message):
        attempt(torch.ones(2).cuda())


def test_reading_on_the_host_and_copies_are_legal() -> None:
    with simulate():
        c = torch.arange(3.0).cuda()
        assert c.tolist() == [0.0, 1.0, 2.0]
        assert c[1].item() == 1.0
        assert c.cpu().numpy().sum() == 3.0
        h = torch.zeros(3)
        h.copy_(c)
        h[1:] = c[1:]
        c[:2] = torch.ones(2)
        c[torch.tensor([0])] = 1.0
        assert (c[h > 1].device, (c * torch.tensor(2.0)).device) == (ZERO, ZERO)
        assert bool(c.sum() > 0)


def test_a_composite_refuses_out_elsewhere_before_it_copies() -> None:
    with simulate():
        x = torch.rand(3, 3, device="cuda")
        with pytest.raises(RuntimeError, match="same device"):
            torch.linalg.matrix_norm(x, out=torch.empty(()))
        assert torch.linalg.matrix_norm(x, out=torch.empty((), device="cuda")).device.type == "cuda"
        assert torch.bernoulli(x, out=torch.empty(3, 3)).device.type == "cpu"


def test_what_has_no_cuda_kernel_is_refused() -> None:
    with simulate(), pytest.raises(NotImplementedError, match="'CUDA' backend"):
        torch.histogram(torch.rand(4, device="cuda"), 3)


def test_each_result_of_a_list_is_where_its_tensors_meet() -> None:
    with simulate():
        made = torch._foreach_add([torch.ones(2, device="cuda"), torch.ones(2)], [torch.ones(()), torch.ones(2)])
        assert [t.device.type for t in made] == ["cuda", "cpu"]
        with pytest.raises(RuntimeError, match="two devices"):
            torch._foreach_add([torch.ones(2, device="cuda")], [torch.ones((), device="cuda:1")])


@pytest.mark.parametrize("indices", [True, False])
def test_a_function_chosen_by_an_argument_runs_on_the_device(indices: bool) -> None:
    with simulate():
        images = torch.rand(1, 2, 9, 9, device="cuda")
        made = F.fractional_max_pool2d(images, 3, output_size=2, return_indices=indices)
        assert all(t.device.type == "cuda" for t in (made if indices else [made]))


def test_torch_cuda_answers() -> None:
    compiled = hasattr(torch._C, "_cuda_getDeviceCount")
    with simulate(count=3):
        assert torch.cuda.is_available()
        assert torch.cuda.device_count() == 3
        assert torch.accelerator.device_count() == 3
        assert torch.accelerator.current_accelerator() == torch.device("cuda")
        assert "simulated" in torch.cuda.get_device_name(2)
        assert torch.cuda.get_device_capability() >= (8, 0)
        assert torch.cuda.is_bf16_supported()
        assert torch.cuda.memory_allocated() == 0
        assert torch.cuda.mem_get_info()[1] > 0
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        torch.cuda.manual_seed_all(3)
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            assert torch.cuda.current_stream() == stream
            c = torch.ones(2).cuda()
            c.record_stream(stream)
        assert torch.cuda.current_stream() == torch.cuda.default_stream()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        end.record()
        assert start.elapsed_time(end) >= 0
        torch.cuda.nvtx.range_push("x")
        state = torch.cuda.get_rng_state()
        first = torch.rand(2, device="cuda")
        torch.cuda.set_rng_state(state)
        assert torch.equal(first, torch.rand(2, device="cuda"))
        with torch.random.fork_rng():
            torch.rand(1, device="cuda")
    assert hasattr(torch._C, "_cuda_getDeviceCount") == compiled
    assert torch.cuda.device_count() == 0


def test_visible_devices_are_counted_at_the_first_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    with simulate():
        assert torch.cuda.device_count() == 1
        with pytest.raises(RuntimeError, match="invalid device ordinal"):
            torch.ones(1).to("cuda:1")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with simulate():
        assert not torch.cuda.is_available()


def test_what_is_not_simulated_names_itself() -> None:
    with simulate():
        c = torch.ones(2).cuda()
        with pytest.raises(NotSimulated, match="_cuda_cudaCachingAllocator_raw_alloc is not simulated"):
            torch.cuda.caching_allocator_alloc(8)
        with pytest.raises(NotSimulated, match="jagged layout"):
            torch.nested.nested_tensor([torch.rand(2), torch.rand(3)], layout=torch.jagged, device="cuda")
        with pytest.raises(NotSimulated, match=r"torch\.export\.export"):
            torch.export.export(torch.nn.Linear(2, 2), (c,))
        with pytest.raises(NotSimulated, match="memory to another library"):
            c.__dlpack__()
        with pytest.raises(NotSimulated, match="CUDAGraph"):
            torch.cuda.CUDAGraph()
        with pytest.raises(NotSimulated, match="the nccl backend"):
            torch.distributed.init_process_group("nccl")
        library = torch.library.Library("devlint_test", "DEF")
        library.define("nowhere(Tensor x) -> Tensor")
        with pytest.raises(NotSimulated, match="which has no kernel for the CPU"):
            torch.ops.devlint_test.nowhere(c)


def test_everything_is_put_back_after_an_exception() -> None:
    before = {name: getattr(torch.cuda, name) for name in ("Stream", "Event", "FloatTensor", "default_generators")}
    attributes = dict(vars(torch.Tensor))
    kept = []

    def fail() -> None:
        with simulate():
            kept.append(torch.ones(1).cuda())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert kept[0].device == CPU
    assert dict(vars(torch.Tensor)) == attributes
    assert {name: getattr(torch.cuda, name) for name in before} == before
    assert torch.Generator is torch._C.Generator
    with simulate():
        assert kept[0].device == CPU


def test_module_moves_and_sparse_tensors() -> None:
    with simulate():
        net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        weight = net[0].weight
        assert net.to(1)[0].weight is weight
        assert {t.device for t in (*net.parameters(), *net.buffers())} == {ONE}
        assert net.to(device="cuda", dtype=torch.float64)[0].weight.device == ZERO
        net.cuda(1).float()
        net(torch.ones(3, 2, device=1)).sum().backward()
        optimizer.step()
        assert net.cpu()[0].weight.grad.device == CPU
        s = torch.eye(2).to_sparse().cuda()
        assert s.device == ZERO
        assert (s @ torch.ones(2, 1, device="cuda")).device == ZERO
        assert s.to_dense().device == ZERO
        assert torch.empty(2, device="meta").device.type == "meta"
        indices, values = torch.tensor([[0, 1]]), torch.ones(2)
        assert torch.sparse_coo_tensor(indices, values, device="cuda").device == ZERO
        assert {indices.device, values.device} == {CPU}
        assert torch.sparse_coo_tensor(indices.cuda(), values.cuda()).device == ZERO


def test_kernels_the_cpu_lacks_are_run_in_a_wider_type() -> None:
    counts = torch.tensor([0, 1, 1], dtype=torch.int32)
    with pytest.raises(NotImplementedError, match="histogram_cpu"):
        torch.histc(counts, 2)
    with simulate():
        c = torch.histc(counts.cuda(), 2)
        assert (c.tolist(), c.device, c.dtype) == ([1, 2], ZERO, torch.int32)
        with pytest.raises(NotImplementedError, match="histogram_cpu"):
            torch.histc(counts, 2)


def test_the_example_of_the_readme(capsys: pytest.CaptureFixture[str]) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    (example,) = re.findall(r"^```py\n(.*?)^```$", readme, re.M | re.S)
    exec(compile(example, "README.md", "exec"), {})
    said = re.search(r"print\(error\)  # (.*?)\.\.\.", example)
    assert said is not None
    assert capsys.readouterr().out.startswith(said[1].strip())


def test_autocast_runs_products_in_half_and_losses_in_float() -> None:
    with simulate():
        net, x = nn.Linear(3, 4).cuda(), torch.ones(2, 3, device="cuda")
        with torch.autocast("cuda", dtype=torch.float16):
            assert [t.dtype for t in (net(x), x @ x.T, torch.einsum("ij,kj->ik", x, x))] == [torch.float16] * 3
            assert [t.dtype for t in (net(x).softmax(-1), net(x).sum(), torch.exp(net(x)))] == [torch.float32] * 3
            assert (net(x) + x[:, :1]).dtype is torch.float32
            assert torch.dot(net(x)[0], torch.ones(4, device="cuda")).dtype is torch.float32
            assert net.cpu()(torch.ones(2, 3)).dtype is torch.float32
            with pytest.raises(RuntimeError, match="unsafe to autocast"):
                torch.nn.functional.binary_cross_entropy(x, x)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = net.cuda()(x).float().sum()
        loss.backward()
        assert net.weight.grad is not None
        assert net.weight.grad.dtype is torch.float32
        assert net(x).dtype is torch.float32


def test_new_makes_a_tensor_beside_its_receiver() -> None:
    with simulate():
        x = torch.ones(2, device="cuda:1")
        assert {str(t.device) for t in (x.new(3), x.new([1.0]), x.new())} == {"cuda:1"}


def test_packed_sequences_keep_their_lengths_on_the_host() -> None:
    with simulate():
        packed = nn.utils.rnn.pack_padded_sequence(torch.ones(4, 2, 3, device="cuda"), torch.tensor([4, 3]))
        padded, lengths = nn.utils.rnn.pad_packed_sequence(nn.LSTM(3, 5).cuda()(packed)[0])
        assert (padded.device, lengths.device) == (torch.device("cuda:0"), torch.device("cpu"))


def test_memory_is_counted_as_nothing() -> None:
    with simulate():
        assert torch.cuda.memory_allocated() == torch.cuda.max_memory_reserved() == 0
        assert "Allocated memory" in torch.cuda.memory_summary()


def test_a_device_is_a_new_object_each_time() -> None:
    with simulate():
        x = torch.ones(2, device="cuda")
        assert x.device is not x.device
        assert x.device == x.device


@pytest.mark.parametrize(
    ("use", "name"),
    [
        (lambda: torch.cuda.ExternalStream(5), "torch.cuda.ExternalStream"),
        (lambda: torch.cuda.MemPool(), "torch.cuda.MemPool"),
        (lambda: torch.cuda.Event(interprocess=True).ipc_handle(), "sharing a CUDA event"),
        (lambda: torch.utils.dlpack.to_dlpack(torch.ones(1, device="cuda")), "memory to another library"),
        (lambda: torch.multiprocessing.spawn(print, nprocs=2), "torch.multiprocessing.spawn"),
    ],
)
def test_parts_of_torch_cuda_that_are_not_simulated(use: Any, name: str) -> None:
    with simulate(), pytest.raises(NotSimulated, match=name):
        use()
