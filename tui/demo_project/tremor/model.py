"""TremorNet: moving average, two convolutions, one attention layer, a linear head."""

import torch
import torch.nn.functional as F
from torch import nn

from tremor.ops import ema_scan

try:
    from flash_attn import flash_attn_func
except ImportError:
    flash_attn_func = None


class LearnedAverage(nn.Module):
    """Splits each channel into a smooth part and what is left of it."""

    def __init__(self, channels, alpha=0.1):
        super().__init__()
        self.device = torch.device("cuda")
        start = torch.full((channels,), alpha, device="cuda")
        self.logit = nn.Parameter(torch.logit(start))

    def forward(self, x):
        # The scan sums 600 terms; half precision loses the tail of it.
        smooth = ema_scan(x.float(), torch.sigmoid(self.logit).float())
        return torch.cat([smooth, x - smooth], dim=1)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, steps, width = x.shape
        q, k, v = self.qkv(x).view(batch, steps, 3, self.heads, width // self.heads).unbind(2)
        if flash_attn_func is not None and x.is_cuda and x.dtype is torch.float16:
            y = flash_attn_func(q, k, v)
        else:
            q, k, v = (z.transpose(1, 2) for z in (q, k, v))
            y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2)
        return self.out(y.reshape(batch, steps, width))


class TremorNet(nn.Module):
    def __init__(self, classes=3, width=64, heads=4):
        super().__init__()
        self.device = torch.device("cuda")
        self.average = LearnedAverage(3)
        self.stem = nn.Sequential(
            nn.Conv1d(6, width // 2, 15, stride=4, padding=7),
            nn.GELU(),
            nn.Conv1d(width // 2, width, 7, stride=3, padding=3),
            nn.GELU(),
        )
        self.norm = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.head = nn.Linear(width, classes)

    def position(self, steps, width):
        """Sinusoids, computed instead of stored: windows of any length can be evaluated."""
        place = torch.arange(steps, device="cuda", dtype=torch.float32)[:, None]
        rate = torch.exp(-torch.arange(0, width, 2).cuda() * (4.0 / width))
        return torch.cat([torch.sin(place * rate), torch.cos(place * rate)], dim=1)

    def forward(self, record):
        x = self.stem(self.average(record.to("cuda"))).transpose(1, 2)
        x = x + self.position(x.shape[1], x.shape[2]).to(x.dtype)
        x = x + self.attention(self.norm(x))
        return self.head(x.mean(dim=1))
