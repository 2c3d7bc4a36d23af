"""E330: instructions that install CUDA's toolkit on macOS."""

import re
from collections.abc import Iterator

from analyzers.documents.prose import ProseDocument
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_CLUES = re.compile(
    rb"\bbrew[ \t]+(?:cask[ \t]+)?(?:re)?install[ \t]+(?:--cask[ \t]+)?(?:nvidia-)?cuda(?:-toolkit)?\b(?!-z)|"
    rb"\b(?:cask[ \t]+\"?|brew[ \t]+tap[ \t]+)[\w./-]{0,40}\bcuda\b|"
    rb"\bcuda_\d+\.[\w.]+_mac(?:_network)?(?:\.dmg|\.pkg)?|"
    rb"/Developer/NVIDIA/CUDA-[\d.]+|"
    rb"\bDYLD_(?:FALLBACK_)?LIBRARY_PATH=[^\s;]{0,100}/cuda\b[^\s;\"']{0,60}|"
    rb"(?i:\bcuda[ \t-]+(?:toolkit[ \t]+)?(?:[\d.]+[ \t]+)?(?:for|on)[ \t]+(?:apple[ \t]+)?mac[ \t]?(?:os|book)?(?:[ \t]?x)?\b)|"
    rb"(?i:developer\.nvidia\.com/[\w./-]{0,60}cuda-mac[\w./-]{0,40})|"
    rb"(?i:\bcuda-installation-guide-mac[\w-]{0,40})"
)
#: A sentence that says that there is none is right.
_DENIAL = re.compile(
    rb"(?i:\bno(?:t|r)?\b|n't\b|\bnever\b|\bwithout\b|\bunsupported\b|\bdropped\b|\bcannot\b|"
    rb"\bunavailable\b|\bimpossible\b|\black|\binstead of\b|\bremoved\b|\bdeprecat|\bended\b|\blast\b)"
)


def find(document: ProseDocument) -> Iterator[Match]:
    """Downloads, commands, paths and sentences of the CUDA toolkit for macOS."""
    text = document.text
    for clue in _CLUES.finditer(text):
        start = max(text.rfind(b"\n", 0, clue.start()), clue.start() - 200) + 1
        end = text.find(b"\n", clue.end(), clue.end() + 200)
        line = text[start : end if end >= 0 else clue.end() + 200]
        if _DENIAL.search(line):
            continue
        yield Match(
            clue.start(),
            clue.end(),
            _(
                "This comes from a time of Macs with NVIDIA cards: CUDA 10.2 was the last toolkit "
                "that supported macOS, up to 10.13. On Apple silicon it can be neither installed "
                "nor used, and a toolkit or package that does install is no CUDA."
            ),
        )


RULE = Rule(
    code="E330",
    name="mac-cuda-toolkit",
    severity=Severity.DEGRADES,
    fix=Fix.MANUAL,
    reads=ProseDocument,
    triggers=(b"cuda",),
    what=N_("Instructions or a script install CUDA's toolkit on macOS."),
    why=N_(
        "NVIDIA ended CUDA for macOS with 10.2, whose tools need an NVIDIA card and macOS 10.13. "
        "Who follows such steps on a current Mac loses a day."
    ),
    advice=N_(
        "Take the step out, or say that it is for Linux; on a Mac a usual wheel of PyTorch has MPS."
    ),
    source="https://docs.nvidia.com/cuda/archive/10.2/cuda-toolkit-release-notes/index.html",
    find=find,
    examples=(
        Example(
            path="README.md",
            text="""\
                ## macOS
                Install the CUDA toolkit for macOS (cuda_10.1.168_mac.dmg), then
                ```
                brew cask install nvidia-cuda
                export PATH=/Developer/NVIDIA/CUDA-10.1/bin:$PATH
                export DYLD_LIBRARY_PATH=/usr/local/cuda/lib:$DYLD_LIBRARY_PATH
                ```
                """,
            finds=(
                "CUDA toolkit for macOS",
                "cuda_10.1.168_mac.dmg",
                "brew cask install nvidia-cuda",
                "/Developer/NVIDIA/CUDA-10.1",
                "DYLD_LIBRARY_PATH=/usr/local/cuda/lib:$DYLD_LIBRARY_PATH",
            ),
        ),
        Example(
            path="setup.sh", text="brew install --cask cuda\n", finds=("brew install --cask cuda",)
        ),
        Example(path="README.md", text="There is no CUDA for macOS; use MPS.\n"),
        Example(path="README.md", text="CUDA on macOS is not supported.\n"),
        Example(
            path="README.md", text="Install the CUDA toolkit 12 for Linux. On macOS use MPS.\n"
        ),
        Example(path="notes.txt", text="brew install cuda\n"),
        Example(path="README.md", text="export LD_LIBRARY_PATH=/usr/local/cuda/lib64\n"),
    ),
)
