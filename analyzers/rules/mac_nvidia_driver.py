"""E331: instructions that give a Mac a driver or a card of NVIDIA."""

import re
from collections.abc import Iterator

from analyzers.documents.prose import ProseDocument
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_CLUES = re.compile(
    rb"(?i:"
    rb"\bnvidia[ \t-]+web[ \t-]+drivers?\b|\bwebdriver[\w./-]{0,40}nvidia\b|"
    rb"\bnvidia-update\b|\bnvda_drv=1|"
    rb"\b(?:purge-wrangler|set-egpu|macos-egpu[\w.-]{0,20}|automate-egpu[\w.-]{0,20})\b|"
    rb"\bnvidia[^\n.]{0,60}\b(?:e-?gpu|hackintosh)s?\b|"
    rb"\b(?:e-?gpu|hackintosh)s?\b[^\n.]{0,60}\b(?:nvidia|cuda)\b|"
    rb"\b(?:high[ \t]sierra|mac[ \t]?os(?:[ \t]x)?[ \t]10\.13)\b[^\n]{0,80}\b(?:nvidia|cuda)\b|"
    rb"\b(?:nvidia|cuda)\b[^\n]{0,80}\b(?:high[ \t]sierra|mac[ \t]?os(?:[ \t]x)?[ \t]10\.13)\b"
    rb")"
)
_DENIAL = re.compile(
    rb"(?i:\bno(?:t|r)?\b|n't\b|\bnever\b|\bunsupported\b|\bdropped\b|\bcannot\b|\blast\b|\bended\b)"
)


def find(document: ProseDocument) -> Iterator[Match]:
    """Web drivers, external cards and old systems that stand beside NVIDIA or CUDA."""
    text = document.text
    for clue in _CLUES.finditer(text):
        start = max(text.rfind(b"\n", 0, clue.start()), clue.start() - 200) + 1
        end = text.find(b"\n", clue.end(), clue.end() + 200)
        if _DENIAL.search(text[start : end if end >= 0 else clue.end() + 200]):
            continue
        yield Match(
            clue.start(),
            clue.end(),
            _(
                "NVIDIA's web drivers end with macOS 10.13 (High Sierra), and Apple silicon works "
                "with no NVIDIA card, inside or outside. Unofficial drivers change nothing about "
                "that: use MPS, or a CUDA machine."
            ),
        )


RULE = Rule(
    code="E331",
    name="mac-nvidia-driver",
    severity=Severity.DEGRADES,
    fix=Fix.NONE,
    reads=ProseDocument,
    triggers=(b"nvidia", b"cuda", b"nvda_drv", b"egpu", b"purge-wrangler"),
    what=N_("Instructions give a Mac a driver or a card of NVIDIA."),
    why=N_(
        "They are for Intel Macs of 2017 and before. On a current macOS the driver does not load, "
        "and Apple silicon has no driver for external cards."
    ),
    advice=N_("Take the step out. On a Mac the GPU is Apple's, and PyTorch reaches it by MPS."),
    source="Apple Support on external graphics processors, https://support.apple.com/en-us/HT208544",
    find=find,
    examples=(
        Example(
            path="README.md",
            text="""\
                1. Install the NVIDIA Web Driver
                2. On macOS High Sierra with CUDA 9.2 run `purge-wrangler`
                3. A hackintosh with an NVIDIA card works too
                """,
            finds=(
                "NVIDIA Web Driver",
                "High Sierra with CUDA",
                "purge-wrangler",
                "hackintosh with an NVIDIA",
            ),
        ),
        Example(path="README.md", text="NVIDIA driver 535 on Ubuntu. macOS 14 with MPS.\n"),
        Example(path="README.md", text="eGPUs are fine. Selenium WebDriver is needed.\n"),
        Example(path="README.md", text="NVIDIA eGPUs do not work on Apple silicon.\n"),
        Example(path="notes.txt", text="NVIDIA web driver\n"),
    ),
)
