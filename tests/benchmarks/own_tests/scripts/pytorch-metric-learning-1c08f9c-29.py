import torch
from pytorch_metric_learning.miners import BatchHardMiner

anchors, positives, negatives = BatchHardMiner()(
    torch.rand(6, 4, device="cuda"), torch.tensor([0, 0, 1, 1, 2, 2]).cuda()
)
print(torch.stack([anchors, positives, negatives]))
