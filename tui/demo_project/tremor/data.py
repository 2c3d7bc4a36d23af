"""Synthetic three-component records.

The shapes are caricatures, but they carry the features an analyst goes by: an earthquake has a P and
a stronger, slower S arrival; a blast has one sharp onset and decays fast; noise is only coloured.
"""

import math

import torch
from torch.utils.data import Dataset

CLASSES = ("noise", "earthquake", "blast")
SAMPLES = 600  # 10 s at 60 Hz


def wavelet(t, onset, frequency, decay):
    """A damped oscillation that starts at `onset`."""
    dt = (t - onset).clamp(min=0.0)
    return torch.exp(-dt / decay) * torch.sin(2 * math.pi * frequency * dt) * (t >= onset)


class SyntheticTremors(Dataset):
    """`size` windows, each a function of its index and the seed alone."""

    def __init__(self, size, seed=0, samples=SAMPLES):
        self.size = size
        self.seed = seed
        self.samples = samples

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        # A generator for each window: the order of the workers cannot change the data.
        g = torch.Generator().manual_seed(self.seed * 1_000_003 + index)
        t = torch.linspace(0.0, 10.0, self.samples)
        label = index % len(CLASSES)
        noise = torch.randn(3, self.samples, generator=g)
        record = 0.15 * torch.cumsum(noise, dim=1) / math.sqrt(self.samples) + 0.3 * noise

        onset = 1.0 + 4.0 * torch.rand((), generator=g)
        gains = 0.5 + torch.rand(3, 1, generator=g)
        if CLASSES[label] == "earthquake":
            lag = 0.8 + 1.5 * torch.rand((), generator=g)
            p = wavelet(t, onset, 5.0, 0.6)
            s = wavelet(t, onset + lag, 2.0, 1.5)
            record = record + gains * (0.8 * p + 2.0 * s)
        elif CLASSES[label] == "blast":
            record = record + gains * 2.2 * wavelet(t, onset, 8.0, 0.35)

        arrival = -1.0 if CLASSES[label] == "noise" else float(onset)
        return record, label, arrival


def augment(record):
    """Polarity flips and gain changes, drawn on the GPU so that the copy stays asynchronous."""
    n = record.shape[0]
    gain = torch.empty(n, 3, 1, device="cuda").uniform_(0.7, 1.3)
    flip = torch.rand(n, 1, 1, device="cuda") < 0.5
    return torch.where(flip, -record, record) * gain
