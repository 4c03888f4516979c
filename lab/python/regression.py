"""Linear regression by descent: gradients in three ways, the whole data or a part at each step, and PyTorch's optimisers."""
from torch_common import GPU, check, check_close, torch

TRUE_W, TRUE_B = torch.tensor([2.0, -3.4], device=GPU), 4.2
points = torch.randn(1000, 2, device=GPU)
values = points @ TRUE_W + TRUE_B + 0.01 * torch.randn(1000, device=GPU)


def loss_of(w, b, x=points, y=values):
    """The mean of l_i = (w x_i + b - y_i)^2 / 2."""
    return ((x @ w + b - y) ** 2 / 2).mean()


def start():
    return torch.zeros(2, device=GPU), torch.zeros((), device=GPU)


def gradient(w, b, x=points, y=values):
    """By the chain rule: dL/dw = dL/dm dm/dw with m = w x + b."""
    of_m = (x @ w + b - y) / len(y)
    return of_m @ x, of_m.sum()


def is_right(w, b, tolerance=0.02):
    return bool((w - TRUE_W).abs().max() < tolerance) and abs(b.item() - TRUE_B) < tolerance


# The gradient in three ways.
w, b = (value.double() for value in start())
x, y = points.double(), values.double()
by_rule = gradient(w, b, x, y)
delta = 1e-4
steps = torch.eye(2, device=GPU, dtype=torch.double) * delta
by_differences = [(loss_of(w + step, b, x, y) - loss_of(w - step, b, x, y)) / (2 * delta) for step in steps]
check_close(torch.stack(by_differences), by_rule[0].cpu(), "finite differences for w", 1e-3)
check_close((loss_of(w, b + delta, x, y) - loss_of(w, b - delta, x, y)) / (2 * delta), by_rule[1].cpu(), "and for b", 1e-3)
w.requires_grad_(), b.requires_grad_()
loss_of(w, b, x, y).backward()
check_close(w.grad, by_rule[0].cpu(), "the chain rule by hand and autograd", 1e-9)
check_close(b.grad, by_rule[1].cpu(), "for both", 1e-9)


def descend(eta, x=points, y=values, most=1000, change=1e-5):
    """Steps until a step changes little, and the losses on the way."""
    w, b = start()
    losses = [loss_of(w, b, x, y).item()]
    for _ in range(most):
        of_w, of_b = gradient(w, b, x, y)
        w, b = w - eta * of_w, b - eta * of_b
        losses.append(loss_of(w, b, x, y).item())
        if eta * max(of_w.abs().max().item(), of_b.abs().item()) <= change or losses[-1] > 1e12:
            break
    return w, b, losses


w, b, losses = descend(0.3)
check(is_right(w, b) and len(losses) < 200, f"gradient descent finds w and b in {len(losses) - 1} steps")
*_, losses = descend(2.5)
check(losses[-1] > 1e6 * losses[0], f"steps too large: the loss goes from {losses[0]:.1f} to {losses[-1]:.2g}")

# Inputs of another magnitude: gradients of w and b differ by it, and only small steps converge.
wide = points * 50 + 20
normal = (wide - wide.mean(0)) / wide.std(0)
of_w, of_b = gradient(*start(), wide, values)
check(of_w.abs().max() > 10 * of_b.abs(), "gradients of different magnitude")
*_, raw = descend(0.3, wide, most=20)
*_, normalised = descend(0.3, normal)
check(raw[-1] > raw[0] and normalised[-1] < 1e-3, "normalised inputs allow steps under which others diverge")

# One point, or a few, at each step.
w, b = start()
for index in torch.randperm(1000, device=GPU).tolist():
    of_w, of_b = gradient(w, b, points[index:index + 1], values[index:index + 1])
    w, b = w - 0.02 * of_w, b - 0.02 * of_b
check(is_right(w, b), "a point at a time: once through the data suffices")
w, b = start()
size, eta = 32, 0.1
for _ in range(150):
    some = torch.randint(0, 1000, (size,), device=GPU)
    error = points[some] @ w + b - values[some]
    w, b = w - eta / size * (error @ points[some]), b - eta / size * error.sum()
check(is_right(w, b), "minibatches: w - eta / |B| times the sum over B")

# PyTorch's optimisers have zero_grad() and step().
for name, make in {"SGD": lambda p: torch.optim.SGD(p, lr=0.3), "SGD with momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.8),
                   "Adam": lambda p: torch.optim.Adam(p, lr=0.3)}.items():
    w, b = start()
    w.requires_grad_(), b.requires_grad_()
    optimizer = make([w, b])
    for _ in range(100):
        optimizer.zero_grad()
        loss_of(w, b).backward()
        optimizer.step()
    check(is_right(w.detach(), b.detach(), 0.05), f"torch.optim: {name}")
w = torch.ones(3, device=GPU, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.5)
(w * w).sum().backward()
optimizer.step()
check_close(w, [0.0, 0.0, 0.0], "a step is w - lr * gradient")
optimizer.zero_grad()
check(w.grad is None or not w.grad.any(), "zero_grad() clears")
