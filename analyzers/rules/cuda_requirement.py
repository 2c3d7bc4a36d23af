"""E301: a requirement that no Mac can meet."""

import re
from collections.abc import Iterator

from analyzers.documents.packages import PackagesDocument
from analyzers.environment import line_trouble
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

#: Groups whose name says that they are for machines with CUDA.
_FOR_CUDA = re.compile(r"(?:.*[-_.])?(?:cuda|gpu|nvidia|cu\d+|linux|triton|tensorrt|flash)", re.I)


def find(document: PackagesDocument) -> Iterator[Match]:
    """Lines that ask for something that needs CUDA, where their marker holds on a Mac."""
    for line in document.lines:
        trouble = line_trouble(line)
        if trouble is None:
            continue
        extra = document.extra(line)
        if not extra:
            yield Match(line.start, line.end, trouble.message, trouble.severity)
        elif not _FOR_CUDA.match(extra):
            message = _("{trouble} Only who asks for the group {extra} gets it.").format(
                trouble=trouble.message, extra=extra
            )
            yield Match(line.start, line.end, message, Severity.DEGRADES)


RULE = Rule(
    code="E301",
    name="cuda-requirement",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=PackagesDocument,
    triggers=(),
    what=N_("A requirement names a package or a build that exists for CUDA alone."),
    why=N_(
        "pip finds no wheel for a Mac, or builds from source and stops without nvcc. Installing is "
        "not running either: some packages install and fail at the first call."
    ),
    advice=N_(
        'Give the line a marker such as ; sys_platform == "linux", put it into an extra, or leave '
        "out what torch asks for by itself; then look at the code that imports it."
    ),
    source="https://packaging.python.org/en/latest/specifications/dependency-specifiers/",
    find=find,
    examples=(
        Example(
            path="requirements.txt",
            text="""\
                torch==1.13.1+cu117
                nvidia-cublas-cu12==12.4.5.8 \\
                    --hash=sha256:0000
                triton==3.1.0  # from pip freeze
                flash-attn>=2.3.6
                cupy-cuda12x
                bitsandbytes==0.41.0
                """,
            finds=(
                "torch==1.13.1+cu117",
                "nvidia-cublas-cu12==12.4.5.8",
                "triton==3.1.0",
                "flash-attn>=2.3.6",
                "cupy-cuda12x",
                "bitsandbytes==0.41.0",
            ),
        ),
        Example(
            path="requirements/gpu.txt",
            text="""\
                torch==2.5.1+cu121; sys_platform == "darwin"
                torch; sys_platform != "darwin"
                https://download.pytorch.org/whl/cu118/torch-2.0.1%2Bcu118-cp310-cp310-linux_x86_64.whl
                jax[cuda12]
                """,
            finds=(
                'torch==2.5.1+cu121; sys_platform == "darwin"',
                "https://download.pytorch.org/whl/cu118/"
                "torch-2.0.1%2Bcu118-cp310-cp310-linux_x86_64.whl",
                "jax[cuda12]",
            ),
        ),
        Example(
            path="pyproject.toml",
            text="""\
                [project]
                dependencies = ["torch==2.1.0+cu118", "triton; sys_platform == 'linux'", "flash-attn"]
                [project.optional-dependencies]
                fast = ["xformers"]
                gpu = ["flash-attn"]
                [tool.poetry.dependencies]
                cupy-cuda12x = "^13"
                triton = {version = "*", markers = "sys_platform == 'linux'"}
                """,
            finds=("torch==2.1.0+cu118", "flash-attn", "xformers", "^13"),
        ),
        Example(
            path="setup.py",
            text="""\
                REQUIRED = ["torch", "flash-attn"]
                setup(
                    install_requires=REQUIRED,
                    extras_require={"all": ["triton"], "cuda": ["cupy-cuda12x"]},
                )
                """,
            finds=("flash-attn", "triton"),
        ),
        Example(
            path="setup.cfg",
            text="[options]\ninstall_requires =\n    torch\n    flash-attn>=2\n",
            finds=("flash-attn>=2",),
        ),
        Example(
            path="Pipfile",
            text="""\
                [packages]
                torch = "*"
                nvidia-cublas-cu12 = "*"
                triton = {version = "*", sys_platform = "== 'linux'"}
                """,
            finds=("*",),
        ),
        Example(path="pyproject.toml", text='[tool.other]\nflash-attn = "2"\nx = ["triton"]\n'),
        Example(path="setup.py", text='print("triton")\nx = ["triton"]\n'),
        Example(
            path="requirements.txt",
            text="""\
                triton>=2; platform_machine=="x86_64" and sys_platform=="linux"
                onnxruntime-gpu==1.17.1; sys_platform != "darwin"
                nvidia-nccl-cu12; platform_system == "Linux"
                """,
        ),
        Example(
            path="requirements.txt",
            text="https://x/a-1%2Bcu124-py3-none-linux_x86_64.whl; platform_system == 'Linux'\nhttps://x/a-1+cu124-py3-none-win_amd64.whl ; sys_platform == 'win32'\n",
        ),
        Example(path="requirements.txt", text="torch>=2.1\nbitsandbytes\nnumba\nfaiss-cpu\n"),
        Example(path="requirements.txt", text="# flash-attn\ntorch==2.0.1+cpu  # not +cu118\n"),
        Example(path="notes.txt", text="flash-attn\ntriton\n"),
    ),
)
