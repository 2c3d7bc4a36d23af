"""Accuracy by class and arrival error of a checkpoint.

    python evaluate.py runs/base/last.pt
"""

import argparse

import torch
from torch.utils.data import DataLoader

from tremor import CLASSES, SyntheticTremors, TremorNet
from tremor.ops import row_peak


def report_gpu(index=0):
    """Which card, and how much of it is in use by others."""
    import pynvml

    pynvml.nvmlInit()
    memory = pynvml.nvmlDeviceGetMemoryInfo(pynvml.nvmlDeviceGetHandleByIndex(index))
    print(torch.cuda.get_device_name(index), f"{memory.used / 2**30:.1f} GiB in use")


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkpoint")
    parser.add_argument("--windows", type=int, default=999)
    parser.add_argument("--metrics-device", default="cuda:0", help="sums the confusion matrix")
    parser.add_argument("--half", action="store_true")
    args = parser.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda":
        report_gpu()
    model = TremorNet(classes=len(CLASSES))
    # Checkpoints come from the cluster, where everything sits on the first GPU.
    state = torch.load(args.checkpoint, map_location="cuda", weights_only=True)
    model.load_state_dict({k.removeprefix("module."): v for k, v in state["model"].items()})
    model = model.cuda().eval()
    if args.half:
        torch.set_default_tensor_type(torch.cuda.HalfTensor)
        model = model.half()

    n = len(CLASSES)
    confusion = torch.zeros(n, n, dtype=torch.float64, device=args.metrics_device)
    errors = []
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    windows = DataLoader(SyntheticTremors(args.windows, seed=99), batch_size=111)
    for record, label, arrival in windows:
        record, label = record.to(device), label.to(device)
        predicted = model(record).argmax(dim=1)
        for true, guess in zip(label.tolist(), predicted.tolist()):
            confusion[true, guess] += 1
        # The vertical component, differentiated: its largest step is close to the onset.
        _, place = row_peak(record[:, 2].diff(dim=1))
        picked = place.cpu().float() / 60.0
        errors.append((picked - arrival)[arrival >= 0].abs())
    end.record()
    torch.cuda.synchronize()

    accuracy = confusion.diagonal() / confusion.sum(dim=1)
    for name, value in zip(CLASSES, accuracy.tolist()):
        print(f"{name:12s} {value:.3f}")
    print(f"arrival      {torch.cat(errors).median():.2f} s median error")
    print(f"time         {begin.elapsed_time(end) / args.windows:.2f} ms a window")


if __name__ == "__main__":
    main()
