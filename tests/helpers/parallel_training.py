"""A small model and its training, for comparisons of layouts on several devices."""

from weft import Tensor, nn

DEVICES = ("REF:1", "REF:2")


def data():
    Tensor.manual_seed(0)
    return Tensor.randn(8, 4, device="REF").realize(), Tensor.randn(8, 3, device="REF").realize()


class Model(nn.Module):
    def __init__(self):
        self.first, self.second = nn.Linear(4, 6), nn.Linear(6, 3)

    def forward(self, x):
        return self.second(self.first(x).tanh())


def model():
    Tensor.manual_seed(1)
    made = Model()
    for tensor in nn.state.get_parameters(made):
        tensor.to_("REF").realize()
    return made


def losses(net, prepare=lambda optimizer: None, steps=3):
    x, target = data()
    optimizer = nn.optim.AdamW(nn.state.get_parameters(net), lr=0.05)
    prepare(optimizer)
    found = []
    with Tensor.train():
        for _ in range(steps):
            optimizer.zero_grad()
            out = net(x)
            if isinstance(out.device, tuple):
                wanted = target.shard_like(out)
            else:
                wanted = target.to(out.device)
            loss = (out - wanted).square().mean()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
    return found
