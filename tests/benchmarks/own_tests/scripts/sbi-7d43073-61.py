import torch
from sbi.neural_nets.estimators.categorical_net import CategoricalMADE

net = CategoricalMADE(torch.tensor([2, 3]), num_hidden_features=8, num_context_features=4).to("cuda")
inputs = torch.tensor([[0.0, 1.0], [1.0, 2.0]], device="cuda")
print(net.log_prob(inputs, torch.rand(2, 4, device="cuda")))
