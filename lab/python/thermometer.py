"""Gradients by themselves: the history of operations from parameters to a loss, followed back.

An unknown thermometer shows t_u where the temperature is t_c degrees Celsius; what w and b make t_c = w t_u + b?
"""
from torch_common import GPU, check, check_close, torch

t_c = torch.tensor([0.5, 14.0, 15.0, 28.0, 11.0, 8.0, 3.0, -4.0, 6.0, 13.0, 21.0], device=GPU)
t_u = torch.tensor([35.7, 55.9, 58.2, 81.9, 56.3, 48.9, 33.9, 21.8, 48.4, 60.4, 68.4], device=GPU)


def loss_of(parameters, inputs=t_u):
    w, b = parameters
    return ((w * inputs + b - t_c) ** 2).mean()


parameters = torch.tensor([1.0, 0.0], device=GPU, requires_grad=True)
check(parameters.grad is None, "no gradient before backward()")
loss_of(parameters).backward()
print("     gradient", parameters.grad.tolist())
check_close(parameters.grad, [4517.2969, 82.6000], "the gradient at w = 1, b = 0", 1e-6)
residual = (t_u - t_c).double()
check_close(parameters.grad, torch.stack([(2 * residual * t_u.double()).mean(), (2 * residual).mean()]).cpu(), "by hand", 1e-6)
loss_of(parameters).backward()
check_close(parameters.grad, [2 * 4517.2969, 2 * 82.6000], "a second backward() adds to it", 1e-6)
parameters.grad.zero_()
loss_of(parameters).backward()
check_close(parameters.grad, [4517.2969, 82.6000], "unless it is cleared", 1e-6)
with torch.no_grad():
    check(not loss_of(parameters).requires_grad, "no history without need")
double = parameters.detach().double().requires_grad_()
check(torch.autograd.gradcheck(lambda p: ((p[0] * t_u.double() + p[1] - t_c) ** 2).mean(), double), "differences agree")

optimizer = torch.optim.SGD([parameters], lr=3e-2)
for _ in range(1700):
    optimizer.zero_grad()
    loss_of(parameters, 0.1 * t_u).backward()
    optimizer.step()
w, b = parameters.tolist()
print(f"     t_c = {0.1 * w:.4f} t_u {b:+.4f}, loss {loss_of(parameters, 0.1 * t_u).item():.4f}")
inputs = torch.stack([0.1 * t_u, torch.ones_like(t_u)], 1).double()
check_close(parameters, torch.linalg.lstsq(inputs.cpu(), t_c.double().cpu()[:, None]).solution[:, 0], "least squares' own answer", 1e-2)
