import torch
from ignite.metrics import MeanAveragePrecision

metric = MeanAveragePrecision(rec_thresholds=[0.0, 0.5, 1.0], device="cuda")
metric.update((torch.rand(6, device="cuda"), torch.randint(0, 2, (6,), device="cuda")))
print(metric.compute())
