"""What each device rule looks for, as somebody would write it for ast-grep.

A pattern matches a shape; aliases, scopes, guards and handled cases are what ast-grep cannot see,
so a rule here reports other places than ours does and has less to do for each.
"""

from collections.abc import Mapping, Sequence

#: Patterns by the code of the rule of ours that looks for the same.
PATTERNS: dict[str, tuple[str, ...]] = {
    "D101": (
        '"cuda" if torch.cuda.is_available() else "cpu"',
        '"cuda:0" if torch.cuda.is_available() else "cpu"',
        "$A if torch.cuda.is_available() else $B",
    ),
    "D102": ('torch.device("cuda")', 'torch.device("cuda:0")', 'torch.device("cuda", $N)'),
    "D103": ("$X.cuda()", "$X.cuda($A)", "$X.cuda(non_blocking=$A)"),
    "D104": ('$X.to("cuda")', '$X.to("cuda:0")', '$X.to("cuda", $$$A)', '$X.to(device="cuda")'),
    "D105": ('$F($$$A, device="cuda", $$$B)', '$F($$$A, device="cuda:0", $$$B)'),
    "D106": ('$X = "cuda"', '$X = "cuda:0"', '$X: str = "cuda"', 'self.$X = "cuda"'),
    "D107": ("torch.cuda.$F($$$A)", "cuda.$F($$$A)"),
    "D108": ("torch.cuda.is_available()", "torch.cuda.device_count()"),
    "D109": (
        "torch.cuda.amp.$F($$$A)",
        'torch.autocast("cuda", $$$A)',
        'torch.amp.autocast("cuda", $$$A)',
        "GradScaler($$$A)",
        "autocast($$$A)",
    ),
    "D110": (
        "torch.backends.cudnn.$F = $V",
        "torch.backends.cuda.$F.$G = $V",
        "cudnn.$F = $V",
    ),
    "D111": ("$X.is_cuda", '$X.type == "cuda"', '$X.device.type == "cuda"', '$X != "cuda"'),
    "D113": ("torch.cuda.$T", "torch.set_default_tensor_type($A)", "$X.type($A)"),
    "D114": ("use_cuda = $V", "args.cuda", "args.no_cuda", "self.use_cuda"),
    "D115": (
        "import torch.cuda",
        "from torch.cuda import $$$A",
        "from torch.backends import cudnn",
    ),
    "D116": ('os.environ["CUDA_VISIBLE_DEVICES"]', 'os.environ.get("CUDA_VISIBLE_DEVICES", $$$A)'),
    "D117": ('dist.init_process_group("nccl", $$$A)', '$F($$$A, backend="nccl", $$$B)', '"nccl"'),
    "D118": ("$X.to(0)", "$F($$$A, device=0, $$$B)"),
    "D119": ("torch.version.cuda",),
    "D120": ("$X.double()", "$X.to(torch.float64)", "$F($$$A, dtype=torch.float64, $$$B)"),
    "D121": ("torch.float8_e4m3fn", "torch.complex128", "torch.complex64"),
    "D122": ('torch.autocast("mps", $$$A)', 'torch.autocast(device_type="mps", $$$A)'),
    "D124": ("pin_memory=True", "$X.pin_memory()"),
    "D125": ("$X.to($$$A, non_blocking=True)",),
    "D126": ('os.environ["PYTORCH_ENABLE_MPS_FALLBACK"]',),
    "D127": ("torch.cuda.OutOfMemoryError",),
    "D128": ("torch.cuda.get_device_properties($A).total_memory", "torch.cuda.mem_get_info($$$A)"),
    "D129": ("DataParallel($$$A)", "nn.DataParallel($$$A)", "torch.nn.DataParallel($$$A)"),
    "D130": ('os.environ["LOCAL_RANK"]',),
    "D131": ("ProfilerActivity.CUDA",),
    "D132": ("torch.compile($$$A)",),
    "D133": ("torch.load($A)",),
    "D134": ("torch.set_default_device($A)",),
    "D136": ("torch.mps.$F($$$A)",),
    "D137": ('torch.device("mps:0")', '"mps:0"'),
    "D138": ("$X.half()", "$X.to(torch.float16)"),
    "D140": ("Trainer($$$A, gpus=$N, $$$B)",),
    "D141": ("TrainingArguments($$$A, fp16=True, $$$B)",),
    "D142": ("$F($$$A, device_map=$M, $$$B)",),
    "D143": ('$F($$$A, attn_implementation="flash_attention_2", $$$B)',),
    "D144": ("torch.manual_seed($A)", "$F($$$A, generator=$G, $$$B)"),
    "D145": ("torch.nonzero($$$A)", "torch.cumsum($$$A)"),
}


def as_yaml(rules: Mapping[str, Sequence[str]]) -> str:
    """One rule for each name and its patterns, in the form that ``ast-grep scan`` reads."""
    documents = []
    for code, patterns in rules.items():
        listed = "\n".join(f"    - pattern: {pattern!r}" for pattern in patterns)
        documents.append(
            f"id: {code}\nlanguage: python\nmessage: {code}\nrule:\n  any:\n{listed}\n"
        )
    return "---\n".join(documents)
