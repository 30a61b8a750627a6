import torch
from torch_geometric.nn import Node2Vec

Node2Vec.__init__ = lambda self: torch.nn.Module.__init__(self)  # it asks for torch_cluster, which walks
model = Node2Vec()
model.num_nodes, model.walk_length, model.context_size, model.walks_per_node, model.num_negative_samples = 5, 4, 3, 2, 1
print(model.neg_sample(torch.arange(5, device="cuda")))
