"""Operators of PyTorch and torchvision that may stand in for well-known kernels.

A kernel is known by the words of its name. The right side says what computes something alike; what
it is called with, and whether it gives the same numbers, is for a comparison to show.
"""

import re
from collections.abc import Iterable

from project.translation import N_

SOURCE = "https://docs.pytorch.org/docs/stable/nn.functional.html"

#: Words of a name, all of which must occur, and the operator; the first that fits is taken.
KNOWN: tuple[tuple[frozenset[str], str], ...] = tuple(
    (frozenset(words.split()), operator)
    for words, operator in (
        ("softmax focal", N_("torch.nn.functional.log_softmax and plain arithmetic")),
        ("sigmoid focal", N_("torchvision.ops.sigmoid_focal_loss")),
        ("focal", N_("torchvision.ops.sigmoid_focal_loss")),
        ("xentropy", N_("torch.nn.functional.cross_entropy")),
        ("cross entropy", N_("torch.nn.functional.cross_entropy")),
        ("group norm", N_("torch.nn.functional.group_norm")),
        ("groupnorm", N_("torch.nn.functional.group_norm")),
        ("gn", N_("torch.nn.functional.group_norm")),
        ("rms norm", N_("torch.nn.functional.rms_norm (PyTorch 2.4)")),
        ("rmsnorm", N_("torch.nn.functional.rms_norm (PyTorch 2.4)")),
        ("layer norm", N_("torch.nn.functional.layer_norm")),
        ("layernorm", N_("torch.nn.functional.layer_norm")),
        ("ln", N_("torch.nn.functional.layer_norm")),
        ("batch norm", N_("torch.nn.functional.batch_norm")),
        ("batchnorm", N_("torch.nn.functional.batch_norm")),
        ("bn", N_("torch.nn.functional.batch_norm")),
        ("rotary", N_("sin, cos and products of plain tensors (rotary embeddings need no kernel)")),
        ("rope", N_("sin, cos and products of plain tensors (rotary embeddings need no kernel)")),
        ("adam", N_("torch.optim.Adam or AdamW")),
        ("adamw", N_("torch.optim.AdamW")),
        ("sgd", N_("torch.optim.SGD")),
        ("deform conv", N_("torchvision.ops.deform_conv2d")),
        ("deformable im2col", N_("torchvision.ops.deform_conv2d")),
        ("deformable col2im", N_("torchvision.ops.deform_conv2d")),
        ("nms", N_("torchvision.ops.nms")),
        ("roi align", N_("torchvision.ops.roi_align")),
        ("roi pool", N_("torchvision.ops.roi_pool")),
        ("psroi pool", N_("torchvision.ops.ps_roi_pool")),
        ("knn", N_("torch.cdist and torch.topk")),
        ("nearest neighbor", N_("torch.cdist and torch.topk")),
        ("ball query", N_("torch.cdist, a comparison and torch.topk")),
        ("chamfer", N_("torch.cdist and a minimum")),
        ("scatter", N_("Tensor.scatter_reduce or index_add")),
        ("gather", N_("torch.gather or index_select")),
        ("embedding", N_("torch.nn.functional.embedding")),
        ("conv1d", N_("torch.nn.functional.conv1d")),
        ("upfirdn2d", N_("torch.nn.functional.conv2d between padding and strides")),
        ("bias act", N_("an addition and torch.nn.functional.leaky_relu")),
        ("grid sample", N_("torch.nn.functional.grid_sample")),
        ("gelu", N_("torch.nn.functional.gelu")),
        ("silu", N_("torch.nn.functional.silu")),
        ("swiglu", N_("torch.nn.functional.silu and a product")),
        ("flash", N_("torch.nn.functional.scaled_dot_product_attention")),
        ("mha", N_("torch.nn.functional.scaled_dot_product_attention")),
        ("attention", N_("torch.nn.functional.scaled_dot_product_attention")),
        ("attn", N_("torch.nn.functional.scaled_dot_product_attention")),
        ("softmax", N_("torch.nn.functional.softmax")),
        ("cumsum", N_("torch.cumsum")),
        ("dropout", N_("torch.nn.functional.dropout")),
        ("l2norm", N_("torch.linalg.vector_norm, or torch._foreach_norm over many tensors")),
        ("gemm", N_("torch.matmul")),
        ("matmul", N_("torch.matmul")),
        ("topk", N_("torch.topk")),
    )
)

_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+\d?d?|[A-Z]+|\d+d\b")
#: Words that say how or where, not what.
_EMPTY = frozenset(
    word
    for line in (
        "cuda gpu cpu kernel kernels fwd bwd forward backward fn func function impl launcher",
        "launch grad fused op ops torch pytorch python ref reference naive slow native core c",
        "the and for of in to float half double fp16 bf16 fp32 template run apply test inner",
        "outer out input output ext lib step update pass interface triton metal mps call get",
        "set compute main host device",
    )
    for word in line.split()
)
#: Words that make another operation of a well-known one.
_OTHER_KIND = frozenset({"pr", "prroi", "ps", "ri", "riroi", "rotated", "quadri", "3d", "sparse"})


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name that say what it computes, in lower case."""
    parts = (part.lower() for part in _WORDS.findall(name))
    return tuple(part for part in parts if part not in _EMPTY)


def operator_for(names: Iterable[str]) -> str | None:
    """The operator for the first of these names that is well known, still to be translated."""
    for name in names:
        words = set(words_of(name))
        for known, operator in KNOWN:
            if known <= words and not (words - known) & _OTHER_KIND:
                return operator
    return None


def alike(name: str, other: str) -> int:
    """How many telling words two names share, or 0 where they speak of different things.

    One name's words must all be in the other's, and a single shared word counts only where it is
    all that both have.
    """
    first, second = set(words_of(name)), set(words_of(other))
    shared = first & second
    if not shared or not (first <= second or second <= first):
        return 0
    return len(shared) if len(shared) > 1 or first == second else 0


def related(name: str, other: str) -> bool:
    """Whether two names have a word in common, or the beginning of one (deform, deformable)."""
    return any(
        len(one) > 3 and len(two) > 3 and (one.startswith(two) or two.startswith(one))
        for one in words_of(name)
        for two in words_of(other)
    )
