"""The two operations that have CUDA kernels, each with its reference.

    y[t] = a * x[t] + (1 - a) * y[t - 1]        y[-1] = 0, `a` per channel

The kernels are built by `pip install .`; see csrc/.
"""

import torch

try:
    import tremor_cuda
except ImportError:  # not built, or built for another torch
    tremor_cuda = None


class _EmaScan(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, alpha):
        y = tremor_cuda.ema_forward(x.contiguous(), alpha.contiguous())
        ctx.save_for_backward(x, y, alpha)
        return y

    @staticmethod
    def backward(ctx, grad):
        x, y, alpha = ctx.saved_tensors
        return tremor_cuda.ema_backward(grad.contiguous(), x.contiguous(), y, alpha.contiguous())


def ema_scan_reference(x, alpha):
    """The moving average as a loop over time. (batch, channels, time) -> the same shape."""
    y = torch.zeros_like(x[..., 0])
    out = []
    for column in x.unbind(dim=-1):
        y = y + alpha * (column - y)
        out.append(y)
    return torch.stack(out, dim=-1)


def ema_scan(x, alpha):
    if tremor_cuda is not None and x.is_cuda:
        return _EmaScan.apply(x, alpha)
    return ema_scan_reference(x, alpha)


def row_peak(x):
    """Value and position of the largest |x| in each row of a matrix: the arrival picker."""
    if tremor_cuda is not None and x.is_cuda:
        return tremor_cuda.row_peak(x.contiguous())
    return x.abs().max(dim=1)
