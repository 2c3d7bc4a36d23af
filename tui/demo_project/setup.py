from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

setup(
    name="tremor-net",
    version="0.3.0",
    packages=["tremor"],
    ext_modules=[
        CUDAExtension(
            "tremor_cuda",
            ["csrc/bindings.cpp", "csrc/ema_scan.cu", "csrc/row_peak.cu"],
            extra_compile_args={"cxx": ["-O3"], "nvcc": ["-O3", "--use_fast_math"]},
        )
    ],
    cmdclass={"build_ext": BuildExtension},
)
