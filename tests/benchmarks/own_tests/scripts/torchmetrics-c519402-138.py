import torch
from torchmetrics.functional import auroc

preds = torch.rand(6, 3, device="cuda").softmax(-1)
print(auroc(preds, torch.tensor([0, 1, 0, 1, 0, 1], device="cuda"), num_classes=3, average="weighted"))
