"""PyTorch operators that MPS lacks, or has since a late release: by the name that a program writes.

Read off ``native_functions.yaml`` and ``testing/_internal/common_mps.py`` in the macOS arm64 wheels
2.3.1, 2.6.0, 2.7.1, 2.8.0, 2.10.0 and 2.14.1 and in PyTorch 2.13.0: an operator whose kernels are
for the CPU and CUDA alone raises NotImplementedError on MPS. Those of torchvision are read off its
wheels. A release between two that were read is named only where release notes or pull requests
say so. Nothing was run on a Mac.
"""

from dataclasses import dataclass

_NN = "torch.nn"
_F = "torch.nn.functional"


@dataclass(frozen=True, slots=True)
class Operator:
    """What MPS has of an operator.

    ``since`` is the first PyTorch with a kernel for MPS, empty where no release up to 2.14 has one.
    ``on_cpu`` is true where PyTorch takes the operator to the CPU by itself before that, so that
    the program runs, with a copy to the CPU and back; anything else raises.
    """

    since: str = ""
    on_cpu: bool = False


def _rows(since: str, *names: str, on_cpu: bool = False) -> dict[str, Operator]:
    return dict.fromkeys(names, Operator(since, on_cpu))


#: Names of functions and modules that mean one operator, whatever their arguments.
OPERATORS: dict[str, Operator] = {
    # -- linear algebra
    **_rows("2.14", "torch.linalg.svd", "torch.svd", on_cpu=True),
    **_rows(
        "2.14",
        "torch.linalg.svdvals",
        "torch.linalg.eigh",
        "torch.linalg.eigvalsh",
        "torch.linalg.lstsq",
        "torch.linalg.cond",
        "torch.linalg.matrix_exp",
        "torch.matrix_exp",
        "torch.geqrf",
    ),
    **_rows("2.12", "torch.linalg.qr", "torch.qr"),
    **_rows(
        "2.7",
        "torch.linalg.cholesky",
        "torch.linalg.cholesky_ex",
        "torch.cholesky",
        "torch.linalg.det",
        "torch.det",
        "torch.linalg.slogdet",
        "torch.slogdet",
        "torch.logdet",
        "torch.linalg.solve",
        "torch.linalg.lu_factor",
        "torch.linalg.lu_factor_ex",
        "torch.lu_unpack",
    ),
    **_rows(
        "",
        "torch.linalg.eig",
        "torch.linalg.eigvals",
        "torch.linalg.ldl_factor",
        "torch.linalg.ldl_factor_ex",
        "torch.linalg.ldl_solve",
        "torch.ormqr",
    ),
    # -- selection and arithmetic
    **_rows("", "torch.mode", "torch.take", "torch.heaviside", "torch.frexp"),
    **_rows("", "torch.special.log_ndtr", "torch.special.ndtri", "torch.special.airy_ai"),
    **_rows("", "torch._int_mm", "torch._scaled_mm"),
    **_rows("2.14", "torch.poisson", "torch.binomial"),
    **_rows("2.9", "torch.kthvalue"),
    **_rows("2.8", "torch.cummax", "torch.cummin", "torch.index_copy"),
    **_rows("2.7", "torch.angle", "torch.sinc"),
    **_rows("2.6", "torch.scatter_reduce"),
    **_rows("2.4", "torch.isin"),
    **_rows("2.2", "torch.searchsorted", "torch.lgamma"),
    # -- neural networks
    **_rows("", "torch.channel_shuffle", f"{_F}.channel_shuffle", f"{_NN}.ChannelShuffle"),
    **_rows("", f"{_F}.adaptive_max_pool3d", f"{_NN}.AdaptiveMaxPool3d"),
    **_rows("", f"{_F}.fractional_max_pool2d", f"{_NN}.FractionalMaxPool2d"),
    **_rows("", f"{_F}.fractional_max_pool3d", f"{_NN}.FractionalMaxPool3d"),
    **_rows("", f"{_F}.multi_margin_loss", f"{_NN}.MultiMarginLoss"),
    **_rows("", f"{_F}.multilabel_margin_loss", f"{_NN}.MultiLabelMarginLoss"),
    **_rows("", f"{_F}.rrelu", f"{_NN}.RReLU", f"{_F}.pdist", "torch.pdist"),
    **_rows("2.14", f"{_F}.ctc_loss", "torch.ctc_loss", f"{_NN}.CTCLoss"),
    **_rows("2.10", f"{_F}.embedding_bag", f"{_NN}.EmbeddingBag"),
    **_rows("2.9", f"{_F}.max_pool3d", f"{_NN}.MaxPool3d", "torch.max_pool3d"),
    **_rows("2.9", f"{_F}.avg_pool3d", f"{_NN}.AvgPool3d"),
    **_rows("2.8", f"{_F}.conv_transpose3d", f"{_NN}.ConvTranspose3d"),
    **_rows("2.8", f"{_F}.fold", f"{_NN}.Fold", on_cpu=True),
    **_rows("2.6", f"{_F}.unfold", f"{_NN}.Unfold"),
    **_rows("2.3", f"{_F}.conv3d", f"{_NN}.Conv3d", "torch.conv3d"),
    # -- Fourier transforms, which need macOS 14 as well
    **_rows(
        "2.3",
        *(f"torch.fft.{name}" for name in ("fft", "fft2", "fftn", "ifft", "ifft2", "ifftn")),
        *(f"torch.fft.{name}" for name in ("rfft", "rfft2", "rfftn", "irfft", "irfft2", "irfftn")),
        "torch.stft",
        "torch.istft",
    ),
    # -- torchvision: 0.16 goes with PyTorch 2.1, 0.23 with 2.8
    **_rows("2.1", "torchvision.ops.nms", "torchvision.ops.batched_nms"),
    **_rows("2.1", "torchvision.ops.roi_align", "torchvision.ops.RoIAlign"),
    **_rows("2.8", "torchvision.ops.deform_conv2d", "torchvision.ops.DeformConv2d"),
}

#: Methods of tensors that nothing else has, by the operator that they call.
METHODS: dict[str, Operator] = {
    "kthvalue": Operator("2.9"),
    "scatter_reduce": Operator("2.6"),
    "scatter_reduce_": Operator("2.6"),
    "matrix_exp": Operator("2.14"),
    "ormqr": Operator(),
    "geqrf": Operator("2.14"),
}

#: ``mode=`` of an interpolation, with and without antialiasing.
INTERPOLATION: dict[tuple[str, bool], Operator] = {
    ("bicubic", False): Operator("2.6"),
    ("bilinear", True): Operator("2.7"),
    ("bicubic", True): Operator("2.8"),
    ("trilinear", False): Operator("2.8"),
}
