import torch
from captum.attr import Saliency

net = torch.nn.Linear(4, 3).cuda()
x = torch.rand(3, 4, device="cuda", requires_grad=True)
print(Saliency(net).attribute(x, target=[0, 1, 2]))
