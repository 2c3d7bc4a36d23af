"""One process a GPU, started by torchrun. A plain `python train.py` is one process."""

import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def world_size():
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_main():
    return int(os.environ.get("RANK", "0")) == 0


def wrap(model):
    """Join the process group and wrap the model, if there is a group to join."""
    if world_size() == 1:
        return model
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl")
    return DistributedDataParallel(model, device_ids=[rank])
