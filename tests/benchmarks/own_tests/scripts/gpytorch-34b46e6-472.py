import torch
from gpytorch.lazy import RootLazyTensor

print(RootLazyTensor(torch.rand(3, 4, 4, device="cuda")).prod(0).evaluate())
