"""Pieces of a training step and of a loop that samples.

In a step there are ``model``, ``device``, ``optimizer``, ``batch`` float32[batch, {t}, {d}] and ``labels``; ``loss``
adds to ``loss``, and ``output`` float32[batch, {t}, {d}] is what the model gave.
"""

from __future__ import annotations

from tests.benchmarks.composing.piece import Template

IN_STEPS = tuple(
    Template(kind.strip(), text)
    for kind, _, text in (
        block.strip("\n").partition("\n")
        for block in """
label left behind
batch:
{v0} = torch.randint(0, {d}, (2,)) @born
{v0} = {v0}.to(device) ||| {v0} = {v0}.long()
loss:
loss = loss + F.cross_entropy(output.mean(1), {v0}) @met
---
label left behind
batch:
{v0} = {"target": torch.rand(2, {t}), "weight": torch.rand(2, {t})} @born
{v0} = {key: value.to(device) for key, value in {v0}.items()} ||| {v0} = dict({v0})
loss:
loss = loss + (F.mse_loss(output.sum(-1), {v0}["target"], reduction="none") * {v0}["weight"]).mean() @met
---
transfer discarded
batch:
{v0} = torch.rand(2, {t}, {d}) @born
{v0} = {v0}.to(device) ||| {v0}.to(device)
loss:
loss = loss + F.l1_loss(output, {v0}) @met
---
transfer discarded
setup:
{v0} = torch.rand({d}) @born
{v0} = {v0}.to(device) ||| {v0}.to(device)
batch:
batch = batch * {v0} @met
---
transfer discarded
setup:
{v0} = [torch.rand({d}) for _ in range(2)] @born
{v0} = [value.to(device) for value in {v0}] ||| [value.to(device) for value in {v0}]
loss:
for value in {v0}:
    loss = loss + (output * value).mean() @met
---
weight of the loss left behind
setup:
{v0} = nn.CrossEntropyLoss(weight=torch.rand({d})).to(device) ||| {v0} = nn.CrossEntropyLoss(weight=torch.rand({d}))
loss:
loss = loss + {v0}(output.mean(1), labels) @met
---
weight of the loss left behind
helpers:
class {C0}(nn.Module):
    def __init__(self):
        super().__init__()
        self.centers = nn.Parameter(torch.rand({d})) @born

    def forward(self, values):
        return (values - self.centers).pow(2).mean() @met
setup:
{v0} = {C0}() @born
{v0}.to(device) ||| {v0}.train()
loss:
loss = loss + {v0}(output) @met
---
module never moved
setup:
{v0} = nn.Linear({d}, 1).to(device) ||| {v0} = nn.Linear({d}, 1) @born
loss:
loss = loss + {v0}(output).mean() @met
---
accumulated on the CPU
setup:
{v0} = torch.zeros((), device=device) ||| {v0} = torch.zeros(())
after:
{v0} += loss.detach() @met
---
accumulated on the CPU
setup:
{v0} = torch.zeros({d}, device=device) ||| {v0} = torch.zeros({d})
after:
{v0} = {v0} + output.detach().mean((0, 1)) @met
---
accumulated on the CPU
setup:
{v0} = {name: p.detach().clone() for name, p in model.named_parameters()}
||| {v0} = {name: p.detach().clone().cpu() for name, p in model.named_parameters()}
after:
for name in {v0}:
    p = model.get_parameter(name)
    {v0}[name].mul_(0.9).add_(p.detach(), alpha=0.1) @met
---
numpy of the accelerator
after:
{v0} = output.detach().mean(-1).cpu().numpy() ||| {v0} = output.detach().mean(-1).numpy()
---
numpy of the accelerator
setup:
import numpy as np
{v0} = []
after:
{v0}.append(loss.item()) ||| {v0}.append(loss.detach())
{v1} = np.mean({v0}) @born
---
map_location left out
helpers:
import io
setup:
{v0} = io.BytesIO()
torch.save(torch.rand({d}), {v0})
{v0}.seek(0)
{v1} = torch.load({v0}, map_location=device) ||| {v1} = torch.load({v0})
batch:
batch = batch + {v1} @met
---
map_location left out
helpers:
import io
setup:
{v0} = io.BytesIO()
torch.save({"mean": batches[0].mean((0, 1))}, {v0})
{v0}.seek(0)
{v1} = torch.load({v0}, map_location=device) ||| {v1} = torch.load({v0}, map_location="cpu")
batch:
batch = batch - {v1}["mean"] @met
---
generator of another device
setup:
{v0} = torch.Generator(device=device).manual_seed(0) ||| {v0} = torch.Generator().manual_seed(0)
batch:
batch = batch + 0.1 * torch.randn(batch.shape, device=device, generator={v0}) @met
---
generator of another device
setup:
{v0} = torch.Generator(device) ||| {v0} = torch.Generator()
batch:
{v1} = torch.randperm(batch.size(0), device=device, generator={v0}) @met
batch = batch[{v1}]
---
index written in
batch:
{v0} = torch.rand({d}).to(device) ||| {v0} = torch.rand({d}).to("cuda:0")
batch = batch * {v0} @met
---
index written in
setup:
{v0} = torch.ones({d}, device=device) ||| {v0} = torch.ones({d}).cuda(0)
loss:
loss = loss + (output * {v0}).mean() @met
---
sampling
setup:
{v0} = torch.linspace(0.9, 0.1, 4, device=device) ||| {v0} = torch.linspace(0.9, 0.1, 4)
{v1} = torch.randn(2, {t}, {d}, device=device)
after:
for step in torch.arange(4, device=device):
    {v1} = {v1} * {v0}[step.view(1)] @met
---
sampling
helpers:
class {C0}:
    def __init__(self, steps, device="cpu"):
        self.alphas = torch.linspace(1, 0, steps, device=device).cumsum(0) @born

    def add(self, values, times):
        return values * self.alphas[times].view(-1, 1, 1) @met
setup:
{v0} = {C0}(10, device) ||| {v0} = {C0}(10)
batch:
batch = {v0}.add(batch, torch.randint(0, 10, (2,), device=device)) @met
---
sampling
setup:
{v0} = torch.zeros(2, 1, dtype=torch.long, device=device) ||| {v0} = torch.zeros(2, 1, dtype=torch.long)
after:
for _ in range(3):
    {v1} = model(batch.detach())[:, -1].softmax(-1).multinomial(1)
    {v0} = torch.cat([{v0}, {v1}], dim=1) @met
---
loader's collate
helpers:
from torch.utils.data import DataLoader, TensorDataset
setup:
{v0} = DataLoader(TensorDataset(torch.rand(4, {d})), batch_size=2) @born
batch:
for ({v1},) in {v0}:
    batch = batch + {v1}.to(device).unsqueeze(1) ||| batch = batch + {v1}.unsqueeze(1) @met
""".split("\n---\n")
    )
)
