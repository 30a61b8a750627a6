"""Pieces of a module: ``x`` is float32[batch, {t}, {d}] on the module's device and stays so."""

from __future__ import annotations

from tests.benchmarks.composing.piece import Template

IN_FORWARD = tuple(
    Template(kind.strip(), text)
    for kind, _, text in (
        block.strip("\n").partition("\n")
        for block in """
device= dropped
init:
self.{s0} = nn.Embedding({t}, {d})
forward:
{v0} = torch.arange(x.size(1), device=x.device) ||| {v0} = torch.arange(x.size(1))
x = x + self.{s0}({v0}) @met
---
device= dropped
forward:
{v0} = torch.ones(x.size(1), x.size(1), device=x.device).tril() ||| {v0} = torch.ones(x.size(1), x.size(1)).tril()
{v1} = x @ x.transpose(1, 2)
{v1} = {v1}.masked_fill({v0} == 0, -1e9).softmax(-1) @met
x = {v1} @ x
---
device= dropped
forward:
{v0} = torch.linspace(0, 1, {d}, device=x.device) ||| {v0} = torch.linspace(0, 1, {d})
if self.training:
    x = x * {v0} @met
else:
    x = x + {v0} @met
---
device= dropped
forward:
{v0} = torch.zeros(x.size(0), {d}, device=x.device) ||| {v0} = torch.zeros(x.size(0), {d})
{v1} = []
for step in range(x.size(1)):
    {v0} = torch.tanh({v0} + x[:, step]) @met
    {v1}.append({v0})
x = torch.stack({v1}, dim=1)
---
device= dropped
init:
self.{s0} = nn.GRUCell({d}, {d})
forward:
{v0} = torch.zeros(x.size(0), {d}, device=x.device) ||| {v0} = torch.zeros(x.size(0), {d})
for step in x.unbind(1):
    {v0} = self.{s0}(step, {v0}) @met
x = x + {v0}.unsqueeze(1)
---
device= dropped
helpers:
def {f0}(length, device):
    half = torch.arange(0, {d}, 2, dtype=torch.float32, device=device) / {d}
||| half = torch.arange(0, {d}, 2, dtype=torch.float32) / {d}
    angles = torch.outer(torch.arange(length, device=device), 10000.0**-half) @met
    return torch.cat([angles.sin(), angles.cos()], dim=-1)
forward:
x = x + {f0}(x.size(1), x.device) @met
---
device= dropped
forward:
{v0} = torch.full((x.size(0), 1, {d}), 0.5, device=x.device) ||| {v0} = torch.full((x.size(0), 1, {d}), 0.5)
x = torch.cat([{v0}, x], dim=1)[:, 1:] @met
---
device= dropped
forward:
{v0} = torch.eye({d}, device=x.device) ||| {v0} = torch.eye({d})
x = torch.einsum("btd,de->bte", x, {v0}) @met
---
device= dropped
forward:
{v0} = torch.randint(0, x.size(1), (x.size(0), 2), device=x.device)
||| {v0} = torch.randint(0, x.size(1), (x.size(0), 2))
x = x + x.gather(1, {v0}.unsqueeze(-1).expand(-1, -1, {d})).mean(1, keepdim=True) @met
---
device= dropped
forward:
{v0} = torch.bernoulli(torch.full(x.shape, 0.9, device=x.device)) ||| {v0} = torch.bernoulli(torch.full(x.shape, 0.9))
x = torch.where({v0} > 0, x, torch.zeros_like(x)) @met
---
device= dropped
forward:
{v0} = F.one_hot(torch.arange({d}, device=x.device) % 3, 3).float()
||| {v0} = F.one_hot(torch.arange({d}) % 3, 3).float()
x = x + (x @ {v0}).mean(-1, keepdim=True) @met
---
move dropped
helpers:
def {f0}(length):
    return torch.triu(torch.ones(length, length), diagonal=1).bool() @born
init:
self.{s0} = nn.MultiheadAttention({d}, 2, batch_first=True)
forward:
{v0} = {f0}(x.size(1)).to(x.device) ||| {v0} = {f0}(x.size(1))
x = x + self.{s0}(x, x, x, attn_mask={v0}, need_weights=False)[0] @met
---
move dropped
helpers:
def {f0}(length):
    slopes = torch.tensor([2.0**-i for i in range({d})]) @born
    return slopes / length
forward:
{v0} = {f0}(x.size(1))
x = x * {v0}.to(x) ||| x = x * {v0} @met
---
move dropped
helpers:
class {C0}:
    def __init__(self, size):
        self.values = torch.rand(size) @born

    def read(self):
        return self.values * 2
init:
self.{s0} = {C0}({d})
forward:
x = x + self.{s0}.read().to(x.device) ||| x = x + self.{s0}.read() @met
---
move dropped
helpers:
def {f0}(values, bias):
    return values + bias @met
forward:
{v0} = torch.randn({d}) @born
x = {f0}(x, {v0}.to(x.device)) ||| x = {f0}(x, {v0}) @met
---
move dropped
forward:
{v0} = [torch.tensor(float(i)).repeat({d}) for i in range(3)] @born
{v1} = torch.stack({v0}).mean(0)
x = x * {v1}.to(x.device, x.dtype) ||| x = x * {v1} @met
---
buffer made an attribute
init:
self.register_buffer("{s0}", torch.arange({d}).float()) ||| self.{s0} = torch.arange({d}).float()
forward:
x = x + self.{s0} @met
---
buffer made an attribute
init:
self.register_buffer("{s0}", torch.randn(1, {t}, {d}), persistent=False) ||| self.{s0} = torch.randn(1, {t}, {d})
forward:
x = x + self.{s0}[:, : x.size(1)] @met
---
buffer made an attribute
init:
self.register_buffer("{s0}", torch.tensor([0.5] * {d})) ||| self.{s0} = torch.tensor([0.5] * {d})
forward:
{v0} = (x - self.{s0}) / 2 @met
x = x + {v0}
---
buffer made an attribute
init:
self.{s0} = nn.Parameter(torch.ones({d})) ||| self.{s0} = torch.ones({d}, requires_grad=True)
forward:
x = F.layer_norm(x, ({d},), weight=self.{s0}) @met
---
buffer made an attribute
helpers:
class {C0}(nn.Module):
    def __init__(self, size):
        super().__init__()
        table = torch.rand(16, size) @born
        self.register_buffer("table", table) ||| self.table = table

    def forward(self, ids):
        return F.embedding(ids, self.table) @met
init:
self.{s0} = {C0}({d})
forward:
{v0} = x.sum(-1).long().remainder(16)
x = x + self.{s0}({v0}) @met
---
ModuleList made a list
init:
self.{s0} = nn.ModuleList([nn.Linear({d}, {d}) for _ in range(3)])
||| self.{s0} = [nn.Linear({d}, {d}) for _ in range(3)]
forward:
for layer in self.{s0}:
    x = x + layer(x) @met
---
ModuleList made a list
init:
self.{s0} = nn.ModuleList() ||| self.{s0} = []
for _ in range(2): @born
    self.{s0}.append(nn.Sequential(nn.Linear({d}, {d}), nn.ReLU())) @born
forward:
for layer in self.{s0}:
    x = layer(x) @met
---
ModuleList made a list
init:
self.{s0} = nn.ModuleDict({"a": nn.Linear({d}, {d}), "b": nn.LayerNorm({d})})
||| self.{s0} = {"a": nn.Linear({d}, {d}), "b": nn.LayerNorm({d})}
forward:
x = self.{s0}["b"](x + self.{s0}["a"](x)) @met
---
ModuleList made a list
init:
self.{s0} = nn.ParameterList([nn.Parameter(torch.randn({d})) for _ in range(2)])
||| self.{s0} = [nn.Parameter(torch.randn({d})) for _ in range(2)]
forward:
for {v0} in self.{s0}:
    x = x * {v0} @met
---
clone on the CPU
helpers:
def {f0}(values):
    return values.detach().clone() ||| return values.detach().cpu().clone()
forward:
x = x - {f0}(x).mean(1, keepdim=True) @met
---
clone on the CPU
helpers:
def {f0}(values):
    kept = values.detach() ||| kept = values.detach().to("cpu")
    top = kept.topk(2, dim=-1).values
    return top.mean(-1, keepdim=True)
forward:
x = x / ({f0}(x).abs() + 1) @met
---
clone on the CPU
forward:
{v0} = x.mean(-1, keepdim=True) ||| {v0} = x.mean(-1, keepdim=True).cpu()
x = x * torch.sigmoid({v0}) @met
---
index written in
forward:
{v0} = torch.zeros({d}, device=x.device) ||| {v0} = torch.zeros({d}, device="cuda:0")
x = x + {v0} @met
---
index written in
init:
self.{s0} = nn.Linear({d}, {d})
forward:
{v0} = x.mean(1).to(x.device) ||| {v0} = x.mean(1).to("cuda:0")
x = x + self.{s0}({v0}).unsqueeze(1) @met
---
index written in
forward:
{v0} = torch.tensor([0, 1]).to(x.device) ||| {v0} = torch.tensor([0, 1]).cuda(0)
x = x + x.index_select(1, {v0}).sum(1, keepdim=True) @met
---
indexed on the CPU
init:
self.register_buffer("{s0}", torch.rand({t}, {d})) ||| self.{s0} = torch.rand({t}, {d})
forward:
{v0} = x.sum(-1).argmax(-1)
x = x + self.{s0}[{v0}].unsqueeze(1) @met
---
indexed on the CPU
forward:
{v0} = torch.zeros_like(x) ||| {v0} = torch.zeros(x.shape)
{v1} = x.abs().sum(-1) > 0.1
{v0}[{v1}] = x[{v1}] @met
x = x + {v0} @met
---
indexed on the CPU
forward:
{v0} = torch.zeros(x.size(0), {t}, device=x.device) ||| {v0} = torch.zeros(x.size(0), {t})
{v1} = x.sum(-1).argmax(-1, keepdim=True)
{v0}.scatter_(1, {v1}, 1.0) @met
x = x * (1 + {v0}.unsqueeze(-1)) @met
---
numpy of the accelerator
helpers:
import numpy as np

def {f0}(values):
    return float(np.percentile(values, 50))
forward:
{v0} = {f0}(x.detach().cpu().numpy()) ||| {v0} = {f0}(x.detach().numpy())
x = x * (1 + abs({v0}))
---
numpy of the accelerator
forward:
{v0} = torch.from_numpy(x.detach().cpu().numpy().copy()).to(x.device)
||| {v0} = torch.from_numpy(x.detach().numpy().copy()).to(x.device)
x = x + {v0}
---
numpy of the accelerator
helpers:
import numpy as np
forward:
{v0} = np.asarray(x.detach().sum(-1).cpu()) ||| {v0} = np.asarray(x.detach().sum(-1))
x = x + float({v0}.max())
---
generator of another device
init:
self.{s0} = 7
forward:
{v0} = torch.Generator(device=x.device).manual_seed(self.{s0}) ||| {v0} = torch.Generator().manual_seed(self.{s0})
x = x + torch.randn(x.shape, generator={v0}, device=x.device) @met
---
generator of another device
forward:
{v0} = torch.Generator(x.device) ||| {v0} = torch.Generator()
{v1} = torch.empty_like(x).uniform_(0, 1, generator={v0}) @met
x = x * {v1}
---
module made in passing
forward:
{v0} = nn.Linear({d}, {d}).to(x.device) ||| {v0} = nn.Linear({d}, {d})
x = x + {v0}(x) @met
---
module made in passing
helpers:
class {C0}(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = None

    def forward(self, values):
        if self.norm is None:
            self.norm = nn.LayerNorm(values.size(-1)).to(values.device) ||| self.norm = nn.LayerNorm(values.size(-1))
        return self.norm(values) @met
init:
self.{s0} = {C0}()
forward:
x = self.{s0}(x) @met
---
tensor of the module's file
helpers:
{v9} = torch.tensor([0.1, 0.2]).repeat({d} // 2) @born
forward:
x = x + {v9}.to(x.device) ||| x = x + {v9} @met
---
tensor of the module's file
helpers:
def {f0}(values, weights=torch.ones({d})): @born
    return values * weights.to(values.device) ||| return values * weights @met
forward:
x = {f0}(x) @met
---
legacy constructor
forward:
{v0} = x.new_tensor([0.5] * {d}) ||| {v0} = torch.FloatTensor([0.5] * {d})
x = x * {v0} @met
---
legacy constructor
forward:
{v0} = x.new_zeros(x.size(0), 1, {d}) ||| {v0} = torch.Tensor(x.size(0), 1, {d}).zero_()
x = x + {v0} @met
---
function with a rule of its own
helpers:
class {C0}(torch.autograd.Function):
    @staticmethod
    def forward(ctx, values):
        limits = torch.ones(values.size(-1), device=values.device) ||| limits = torch.ones(values.size(-1))
        ctx.save_for_backward(values)
        return torch.minimum(values, limits) @met

    @staticmethod
    def backward(ctx, grad):
        return grad
forward:
x = {C0}.apply(x) @met
---
stored device
init:
self.{s0} = torch.device("cpu") @born
forward:
{v0} = torch.ones({d}, device=x.device) ||| {v0} = torch.ones({d}, device=self.{s0})
x = x + {v0} @met
""".split("\n---\n")
    )
)
