"""Multilayer perceptrons: what a linear model cannot learn, and models chained of modules."""
from torch_common import GPU, check, check_close, torch
from torch import nn

# Exclusive or: no line parts its two classes.
corners = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], device=GPU)
odd = torch.tensor([[0.0], [1.0], [1.0], [0.0]], device=GPU)


def train(model, inputs, targets, steps, batch, rate):
    """In each epoch the data in batches; for each batch outputs, loss, gradients and a step. The losses of the epochs."""
    optimizer, losses = torch.optim.Adam(model.parameters(), lr=rate), []
    for _ in range(steps):
        order = torch.randperm(len(inputs), device=GPU)
        for some in order.split(batch):
            optimizer.zero_grad()
            nn.functional.mse_loss(model(inputs[some]), targets[some]).backward()
            optimizer.step()
        with torch.no_grad():
            losses.append(nn.functional.mse_loss(model(inputs), targets).item())
    return losses


linear = nn.Linear(2, 1).to(GPU)
check(abs(train(linear, corners, odd, 150, 4, 0.05)[-1] - 0.25) < 0.01, "a linear model learns nothing of exclusive or")
deep = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1)).to(GPU)
losses = train(deep, corners, odd, 200, 4, 0.1)
check(losses[-1] < 1e-2, f"one hidden layer learns it: loss {losses[0]:.3f} to {losses[-1]:.1g}")
check_close((deep(corners) > 0.5).float(), odd.cpu(), "and gives it")

# The thermometer, with 13 units in the hidden layer.
t_c = torch.tensor([0.5, 14.0, 15.0, 28.0, 11.0, 8.0, 3.0, -4.0, 6.0, 13.0, 21.0], device=GPU)[:, None]
t_u = torch.tensor([35.7, 55.9, 58.2, 81.9, 56.3, 48.9, 33.9, 21.8, 48.4, 60.4, 68.4], device=GPU)[:, None]
model = nn.Sequential(nn.Linear(1, 13), nn.Tanh(), nn.Linear(13, 1)).to(GPU)
shapes = [tuple(parameter.shape) for parameter in model.parameters()]
check(shapes == [(13, 1), (13,), (1, 13), (1,)], f"the parameters of the chain: {shapes}")
check([name for name, _ in model.named_parameters()] == ["0.weight", "0.bias", "2.weight", "2.bias"], "with names")
first, tanh, last = model
check_close(model(0.1 * t_u), last(tanh(first(0.1 * t_u))).detach().cpu(), "a chain is its modules, one after the other")
losses = train(model, 0.1 * t_u, t_c, 400, 11, 0.03)
linear_loss = 2.93  # of the best line, as thermometer.py finds it
print(f"     loss {losses[0]:.1f} to {losses[-1]:.3f}")
check(losses[-1] < linear_loss, "closer than the best line")
