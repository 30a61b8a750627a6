import torch
from torchmetrics import MeanSquaredError
from torchmetrics.wrappers import BootStrapper

metric = BootStrapper(MeanSquaredError(), num_bootstraps=3).cuda()
metric.update(torch.rand(8, device="cuda"), torch.rand(8, device="cuda"))
print(metric.compute())
