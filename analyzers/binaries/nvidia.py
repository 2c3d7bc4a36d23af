"""The names of NVIDIA's libraries, and of those parts of PyTorch that need them."""

import re

_LIBRARIES = (
    r"cudart|cuda|cudadevrt|cublas(?:Lt)?|cublasmp|cudnn\w*|cufft\w*|cufile\w*|curand|cusolver\w*|"
    r"cusparse\w*|cudss|cutensor\w*|cupti|nccl|nppc|npp[is]\w*|nvblas|nvcuvid|nvidia-ml|"
    r"nvidia-encode|nvinfer\w*|nvonnxparser|nvjitlink|nvjpeg\w*|nvrtc\w*|nvshmem\w*|nvtoolsext|"
    r"nvvm|nvptxcompiler\w*|torch_cuda\w*|c10_cuda|caffe2_nvrtc|tensorrt\w*|"
    r"onnxruntime_providers_(?:cuda|tensorrt)|cudf|cuml|cugraph|cuspatial|rmm"
)
# A wheel repaired by auditwheel has the hash of the file in the name: libcudart-d0da41ae.so.11.0.
_UNIX = re.compile(rf"lib(?:{_LIBRARIES})(?:-[0-9a-f]{{8}})?\.(?:so|dylib|[\d.]+dylib)\b", re.I)
_WINDOWS = re.compile(
    r"(?:nvcuda|torch_cuda\w*|c10_cuda|caffe2_nvrtc|onnxruntime_providers_(?:cuda|tensorrt))\.dll\Z|"
    rf"(?:{_LIBRARIES})(?:64|32)?_[\d_]+(?:\.alt)?\.dll\Z|nvtoolsext64_1\.dll\Z",
    re.IGNORECASE,
)
_MAC_FRAMEWORK = re.compile(r"/CUDA\.framework/|/usr/local/cuda/", re.IGNORECASE)


def is_cuda_library(name: str) -> bool:
    """Whether a library that a binary names is NVIDIA's, or a part of PyTorch that needs one."""
    base = name.rpartition("/")[2]
    return bool(_UNIX.match(base) or _WINDOWS.match(base) or _MAC_FRAMEWORK.search(name))
