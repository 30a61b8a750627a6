import geoopt
import torch

manifold = geoopt.BirkhoffPolytope()
x = manifold.projx(torch.rand(4, 4, device="cuda"))
print(manifold.proju(x, torch.rand(4, 4, device="cuda")))
