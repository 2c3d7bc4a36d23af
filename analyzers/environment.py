"""What an environment file's words mean on a Mac: packages, indexes, images.

Rules ask these questions; the answer is a sentence, or nothing when a Mac can do as it is told.
"""

import re
from dataclasses import dataclass, replace

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from analyzers import libraries
from analyzers.documents.requirements import Address, Entry, Line, Option, Unreadable
from analyzers.libraries import Library, OnMac, Wheel
from analyzers.markers import marker_holds, wanted_on_mac
from project.translation import _
from project.vocabulary import Severity

_BUILD = re.compile(r"(?:\+|%2B)cu\d{2,3}", re.IGNORECASE)
_LINUX_WHEEL = re.compile(r"[-.](?:many|musl)?linux\w*_(?:x86_64|aarch64|i686)\.whl", re.IGNORECASE)
_INDEX = re.compile(
    r"[/_+.-]cu(?:da)?[-_.]?\d{2,4}(?![0-9])|//pypi\.(?:nvidia|ngc\.nvidia)\.com|"
    r"developer\.download\.nvidia\.com",
    re.IGNORECASE,
)
#: An extra that asks for CUDA by its name: cuda12, and-cuda, cu121.
_CUDA_EXTRA = re.compile(r"(?i)(?:\A|[-_])(?:cuda|cu\d)")
_NVIDIA = re.compile(
    r"nvidia-(?:cublas|cuda|cudnn|cufft|cufile|curand|cusolver|cusparse|cusparselt|nccl|npp|"
    r"nvfatbin|nvjitlink|nvjpeg|nvshmem|nvtx|nvvm)(?:-.*)?\Z|nvidia-.*-cu\d+\Z"
)
_CONDA_CUDA = re.compile(
    r"(?:cuda(?:toolkit)?(?:-.*)?|cudnn|nccl|cutensor|cusparselt|pytorch-cuda|pytorch-gpu|"
    r"libcu(?:blas|dnn|fft|file|rand|solver|sparse)(?:-.*)?|libnpp(?:-.*)?|libnvjitlink(?:-.*)?|"
    r"libnvjpeg(?:-.*)?|tensorflow-gpu|magma-cuda\d*|libmagma)\Z"
)
_CONDA_SPEC = re.compile(r"(?:([\w./-]+)::)?([\w.-]+)\s*(.*)\Z", re.DOTALL)
_IMAGE = re.compile(
    r"(?:docker\.io/)?nvidia/|nvcr\.io/|(?:docker\.io/)?pytorch/pytorch(?:[:@]|\Z)|"
    r"(?:[\w.-]+/)*rapidsai/|.*(?:^|[/:._-])cuda(?=[\d._:/-]|\Z)|.*[:._-]cu\d{2,3}(?![0-9])|"
    r".*[:_-]gpu(?=[._:/-]|\Z)"
)

#: More conditions than anybody sets for one package; each is asked about each.
_SPECIFIERS = 50


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a Mac cannot take something as it stands."""

    message: str
    severity: Severity = Severity.BLOCKS


def line_trouble(line: Line) -> Trouble | None:
    """What a line of a requirements file asks for that a Mac has not."""
    if isinstance(line, Entry):
        return requirement_trouble(line.requirement)
    if isinstance(line, Address):
        return _build_trouble(line.url) if _marker_allows(line.url) else None
    if isinstance(line, Unreadable):
        return _build_trouble(line.content) if _marker_allows(line.content) else None
    if line.name in ("-e", "--editable"):
        return _build_trouble(line.value)
    return None


def _marker_allows(content: str) -> bool:
    """Whether a line that is no valid requirement still has a marker that keeps it from a Mac."""
    return marker_holds(content.partition(";")[2])


def _build_trouble(content: str) -> Trouble | None:
    if _BUILD.search(content):
        return Trouble(
            _(
                "This is a build for CUDA, which exists for Linux and Windows alone: ask for the "
                "plain version on a Mac, or give this line a marker for Linux."
            )
        )
    if _LINUX_WHEEL.search(content):
        return Trouble(
            _(
                "This address is a wheel for Linux, which pip refuses on a Mac: ask for the "
                "package by name there, and give this line a marker for Linux."
            )
        )
    return None


def requirement_trouble(requirement: Requirement) -> Trouble | None:
    """What a requirement by name asks for that a Mac has not."""
    if not wanted_on_mac(requirement.marker):
        return None
    name = canonicalize_name(requirement.name)
    for specifier in requirement.specifier:
        public, plus, local = specifier.version.partition("+")
        if plus and re.match(r"cu(?:da)?\d", local):
            return Trouble(
                _(
                    "{name} {version} is a build for CUDA, which exists for Linux and Windows "
                    "alone: ask for {name}=={public} on a Mac, or give this line a marker for "
                    "Linux."
                ).format(name=requirement.name, version=specifier.version, public=public)
            )
    built = _build_trouble(requirement.url) if requirement.url else None
    if built is not None:
        return built
    extras = sorted(extra for extra in requirement.extras if _CUDA_EXTRA.search(extra))
    if extras:
        return Trouble(
            _(
                "The extra {extra} of {name} brings NVIDIA's binaries, which a Mac has not: ask "
                "for it with a marker for Linux, and for {name} alone on a Mac."
            ).format(extra=extras[0], name=requirement.name)
        )
    row = libraries.distribution(name)
    if row is not None:
        trouble = library_trouble(requirement.name, row, requirement.specifier)
        if trouble is not None and row.index is Wheel.NOTHING:
            return replace(trouble, severity=Severity.BLOCKS)
        return trouble
    if _NVIDIA.match(name):
        return Trouble(
            _(
                "{name} holds NVIDIA's binaries for Linux and Windows. Such lines mostly come from "
                "`pip freeze` there: torch asks for them itself, so leave the line out or give it "
                "a marker for Linux, and take no placeholder release in its place."
            ).format(name=requirement.name)
        )
    if libraries.has_suffix(name) or name in ("tensorflow-gpu", "paddlepaddle-gpu"):
        return Trouble(
            _(
                "{name} says by its name that it is built for CUDA: look for the same library "
                "without it, or give this line a marker for Linux."
            ).format(name=requirement.name)
        )
    return None


def library_trouble(name: str, row: Library, wanted: SpecifierSet | None = None) -> Trouble | None:
    """What the table of libraries says about one of them."""
    if row.on_mac is OnMac.WORKS:
        if row.since and wanted is not None and is_older(wanted, row.since):
            return Trouble(
                _(
                    "{name} is pinned below {since}, the first version that works on a Mac. "
                    "{instead}"
                ).format(name=name, since=row.since, instead=_(row.instead))
            )
        return None
    if row.on_mac is OnMac.PARTIAL:
        message = _("{name} does only a part of its work on a Mac. {state} {instead}")
        severity = Severity.DEGRADES
    else:
        message = _("{name} needs CUDA. {state} {instead}")
        severity = Severity.BLOCKS
    return Trouble(message.format(name=name, state=_(row.state), instead=_(row.instead)), severity)


def is_older(wanted: SpecifierSet, since: str) -> bool:
    """Whether no version from ``since`` on can meet a specifier."""
    if len(wanted) > _SPECIFIERS:
        return False
    first = Version(since)
    candidates = {first, Version(f"{first.major + 1000}")}
    for specifier in wanted:
        try:
            version = Version(specifier.version.removesuffix(".*"))
        except InvalidVersion:
            return False
        candidates |= {version, Version(f"{version.base_version}.post9999")}
    return not any(
        candidate >= first and wanted.contains(candidate, prereleases=True)
        for candidate in candidates
    )


def index_trouble(option: Option) -> Trouble | None:
    """Whether an option of pip names an index or a page of CUDA builds."""
    if option.name in ("-i", "--index-url", "--default-index"):
        return address_trouble(option.value)
    if option.name in ("--extra-index-url", "--index"):
        return beside_trouble(option.value)
    if option.name in ("-f", "--find-links"):
        return pages_trouble(option.value)
    return None


def address_trouble(url: str) -> Trouble | None:
    """Whether an index that stands in place of the usual one offers builds for CUDA alone."""
    if not _INDEX.search(url):
        return None
    return Trouble(
        _(
            "{url} offers builds for CUDA alone, so that nothing is found there for a Mac: take "
            "the usual index, whose wheel of torch has MPS."
        ).format(url=url)
    )


def beside_trouble(url: str) -> Trouble | None:
    """Whether an index beside the usual one offers builds for CUDA alone."""
    if not _INDEX.search(url):
        return None
    return Trouble(
        _(
            "{url} offers builds for CUDA alone. It stands beside the usual index, from where a "
            "Mac gets the wheel of torch that has MPS, unless a line pins a build for CUDA."
        ).format(url=url),
        Severity.COSMETIC,
    )


def pages_trouble(url: str) -> Trouble | None:
    """Whether a page of wheels offers builds for CUDA alone."""
    if not _INDEX.search(url):
        return None
    return Trouble(
        _(
            "{url} lists builds for CUDA: a Mac finds no wheel there, and what the usual index "
            "has as source alone is compiled."
        ).format(url=url),
        Severity.DEGRADES,
    )


def conda_trouble(spec: str) -> Trouble | None:
    """What a package of a conda environment asks for that a Mac has not."""
    match = _CONDA_SPEC.match(spec.strip())
    if match is None:
        return None
    channel, name, rest = match[1] or "", match[2].lower(), match[3]
    if _CONDA_CUDA.match(name) or channel.split("/")[0] == "nvidia":
        return Trouble(
            _(
                "{name} has no build for osx-arm64. Take the line out for a Mac; an environment "
                "that then resolves is no proof that the program runs."
            ).format(name=name)
        )
    if "cuda" in rest.lower() or re.search(r"[=_*]gpu", rest.lower()):
        return Trouble(
            _("{spec} asks for a build with CUDA, which osx-arm64 has not.").format(spec=spec)
        )
    row = libraries.distribution(canonicalize_name(name))
    if row is not None and row.on_mac is OnMac.CUDA_ONLY:
        return library_trouble(name, row)
    return None


def image_trouble(image: str) -> Trouble | None:
    """Whether a container image is made for NVIDIA's container runtime."""
    if not _IMAGE.match(image.lower()):
        return None
    return Trouble(
        _(
            "{image} is made for NVIDIA GPUs. A Linux container on a Mac runs in a virtual machine "
            "and reaches no MPS, whatever its image: run natively on a Mac, and keep the container "
            "for the CUDA machine."
        ).format(image=image)
    )
