"""Train TremorNet on synthetic records.

    python train.py --max-steps 2000
    torchrun --nproc-per-node 4 train.py --config configs/base.yaml --amp
"""

import argparse
import json
import random
import time
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader

from tremor import CLASSES, SyntheticTremors, TremorNet
from tremor.data import augment
from tremor.distributed import is_main, wrap


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", type=Path, help="YAML file whose `train` section sets defaults")
    parser.add_argument("--max-steps", type=int, default=2000)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--lr", type=float, default=3e-4)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--amp", action="store_true", help="mixed precision (float16)")
    parser.add_argument("--out", type=Path, default=Path("runs/base"))
    args = parser.parse_args()
    if args.config:
        import yaml

        parser.set_defaults(**yaml.safe_load(args.config.read_text())["train"])
        args = parser.parse_args()
    return args


def seed_everything(seed):
    random.seed(seed)
    torch.manual_seed(seed)
    torch.cuda.manual_seed_all(seed)


def batches(dataset, args):
    """The dataset again and again, in an order that the seed decides."""
    loader = DataLoader(
        dataset,
        batch_size=args.batch,
        shuffle=True,
        num_workers=args.workers,
        pin_memory=torch.cuda.is_available(),
        drop_last=True,
    )
    while True:
        yield from loader


def main():
    args = arguments()
    seed_everything(args.seed)
    torch.backends.cudnn.benchmark = True

    device = torch.device("cuda")
    model = wrap(TremorNet(classes=len(CLASSES)).to(device))
    # Blasts are the rare class in the catalogue this imitates.
    weight = torch.tensor([1.0, 1.0, 1.5], device="cuda")
    criterion = nn.CrossEntropyLoss(weight=weight).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    scaler = torch.amp.GradScaler("cuda", enabled=args.amp)

    torch.cuda.reset_peak_memory_stats()
    losses = []
    started = time.perf_counter()
    for step, (record, label, _) in enumerate(batches(SyntheticTremors(3 * 4096), args), start=1):
        record = augment(record.cuda(non_blocking=True))
        label = label.to("cuda", non_blocking=True)

        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.float16, enabled=args.amp):
            logits = model(record)
            loss = criterion(logits, label)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

        losses.append(loss.item())
        if is_main() and (step % 50 == 0 or step <= 5):
            accuracy = (logits.argmax(dim=1) == label).float().mean().item()
            print(f"step {step:5d}  loss {losses[-1]:.4f}  accuracy {accuracy:.2f}", flush=True)
        if step >= args.max_steps:
            break

    # Kernels are launched asynchronously: without this the clock stops too early.
    torch.cuda.synchronize()
    seconds = time.perf_counter() - started
    if not is_main():
        return

    args.out.mkdir(parents=True, exist_ok=True)
    torch.save({"model": model.state_dict(), "steps": step}, args.out / "last.pt")
    summary = {
        "steps": step,
        "first_loss": losses[0],
        "last_loss": losses[-1],
        "seconds_per_step": seconds / step,
        "peak_memory_mib": torch.cuda.max_memory_allocated() / 2**20,
    }
    (args.out / "summary.json").write_text(json.dumps(summary, indent=2) + "\n")
    print(f"{step} steps in {seconds:.1f} s, saved to {args.out / 'last.pt'}")


if __name__ == "__main__":
    main()
