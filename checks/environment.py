"""What the environment probe's answers say about the checklist's environment items.

The probe answers where it runs; these items ask about the Mac that would take the work. So only
a Mac can pass or fail them, and elsewhere an answer is recorded and the item stays blocked.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from checks.checklist import some
from project.paths import visible
from project.translation import _, plural
from project.vocabulary import Evidence, On, Result

Values = Mapping[str, Mapping[str, Any]]
Judgement = tuple[Result, str]

#: The beginning of the questions that import one package each.
IMPORT = "import:"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back to one question: a value, an ``error`` that it raised, or neither.

    ``lost`` says why nothing came: the process died or was ended while it was asked. A question
    that was never reached has ``asked`` false.
    """

    value: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    lost: str = ""
    asked: bool = True
    seconds: float = 0.0
    exit: int | None = None


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine that the answers come from."""

    system: str
    release: str
    process: str
    macos: str
    apple_silicon: bool

    @classmethod
    def of(cls, answers: Mapping[str, Answer], fallback: "Machine") -> "Machine":
        """The machine as the probe saw it, or the fallback when the probe could not say."""
        value = answers["system"].value if "system" in answers else {}
        if not _text(value, "system"):
            return fallback
        return cls(
            _text(value, "system"),
            _text(value, "release"),
            _text(value, "process"),
            _text(value, "macos"),
            value.get("apple_silicon") is True,
        )

    @property
    def is_mac(self) -> bool:
        """Whether this is macOS, on whatever processor."""
        return self.system == "Darwin"


def evidence(
    items: Sequence[str], answers: Mapping[str, Answer], fallback: Machine
) -> list[Evidence]:
    """One piece of evidence for each of ``items``; time, target and command are the caller's.

    ``answers`` may lack questions, and their values may hold anything.
    """
    machine = Machine.of(answers, fallback)
    where, versions = _device(answers), _versions(answers, machine)
    made = []
    for item in items:
        questions = [q for q in answers if q in ITEM_QUESTIONS[item] or _imports(item, q)]
        mine = [answers[question] for question in questions]
        result, summary = _judged(item, {q: answers[q] for q in questions}, machine)
        made.append(
            Evidence(
                item=item,
                on=where,
                result=result,
                summary=visible(summary),
                seconds=round(sum(one.seconds for one in mine), 3),
                exit=next((one.exit for one in mine if one.lost or not one.asked), 0),
                facts=_facts({q: answers[q] for q in questions}),
                versions=versions,
            )
        )
    return made


def asked(items: Sequence[str]) -> tuple[str, ...]:
    """The questions that these items need, in the order in which the probe should answer.

    What may crash comes late, so that it takes nothing with it. Where the evidence was made is
    shown by running tensors, which therefore belongs to every check.
    """
    wanted = {question for item in items for question in ITEM_QUESTIONS.get(item, ())}
    if not wanted:
        return ()
    wanted |= {"system", "python", "torch", "mps_tensor", "cuda"}
    return tuple(question for question in _ORDER if question in wanted)


_ORDER = (
    "system",
    "python",
    "variables",
    "packages",
    "torch_installed",
    "libraries",
    "torch",
    "mps_built",
    "mps_available",
    "mps_tensor",
    "cuda",
    IMPORT,
)


def _imports(item: str, question: str) -> bool:
    return IMPORT in ITEM_QUESTIONS[item] and question.startswith(IMPORT)


def _facts(answers: Mapping[str, Answer]) -> dict[str, Any]:
    """The answers as they came: one question's value by itself, several by their names."""
    told = {
        question: dict(one.value) if not one.error else {"error": one.error}
        for question, one in answers.items()
        if one.asked and not one.lost
    }
    return next(iter(told.values())) if len(answers) == 1 and told else dict(told)


def _device(answers: Mapping[str, Answer]) -> On:
    """Where the evidence was made: on the best device that summed the sixteen ones right."""
    if "mps_tensor" in answers and _summed(answers["mps_tensor"].value, "mps"):
        return On.MPS
    cuda = answers["cuda"].value.get("tensor") if "cuda" in answers else None
    if isinstance(cuda, Mapping) and _summed(cuda, "cuda"):
        return On.CUDA
    return On.CPU


def _summed(value: Mapping[str, Any], device: str) -> bool:
    return value.get("sum") == 16 and all(
        _text(value, key).partition(":")[0] == device for key in ("device", "sum_device")
    )


def _versions(answers: Mapping[str, Answer], machine: Machine) -> dict[str, str]:
    versions = {"system": machine.system, "release": machine.release, "machine": machine.process}
    if machine.is_mac:
        versions["macos"] = machine.macos
    for name in ("python", "torch"):
        if name in answers and _text(answers[name].value, "version"):
            versions[name] = _text(answers[name].value, "version")
    return versions


def _judged(item: str, answers: Mapping[str, Answer], machine: Machine) -> Judgement:
    """What the answers say about one item, on this machine."""
    lost = next((one.lost for one in answers.values() if one.lost), "")
    if lost:
        return Result.FAILED, lost
    if any(not one.asked for one in answers.values()):
        return Result.BLOCKED, _("Not asked: the time was up, or the interpreter had ended.")
    error = next((one.error for one in answers.values() if one.error), "")
    if error:
        result, summary = Result.FAILED, error.splitlines()[0]
    else:
        try:
            values = {question: one.value for question, one in answers.items()}
            result, summary = _JUDGES[item][1](values)
        except (KeyError, TypeError, ValueError, AttributeError):
            result, summary = Result.FAILED, _("The answer was not understood.")
    if machine.is_mac:
        return result, summary
    elsewhere = _(
        "This is {system} on {machine}: MPS exists only on Apple silicon Macs; run this check on "
        "a Mac."
    ).format(system=machine.system, machine=machine.process)
    if item in _MAC_ALONE:
        return Result.BLOCKED, elsewhere
    recorded = _("Recorded here: {recorded}").format(recorded=summary)
    return Result.BLOCKED, f"{elsewhere} {recorded}"


def _text(value: Mapping[str, Any], key: str) -> str:
    text = value.get(key)
    return text if isinstance(text, str) else ""


# -- one judge an item: from the answers to a result and a sentence ---------------------------


def _macos(values: Values) -> Judgement:
    version = _text(values["system"], "macos")
    if not version:
        return Result.FAILED, _("No version of macOS was told.")
    return Result.PASSED, _("macOS {version}.").format(version=version)


def _arm64(values: Values) -> Judgement:
    system = values["system"]
    process = _text(system, "process")
    if process == "arm64":
        return Result.PASSED, _("The process is arm64.")
    if system.get("apple_silicon") is True:
        return Result.FAILED, _(
            "The process is {process} on Apple silicon: install an arm64 Python."
        ).format(process=process)
    return Result.FAILED, _("The process is {process}, and not on Apple silicon.").format(
        process=process
    )


def _rosetta(values: Values) -> Judgement:
    translated = values["system"].get("translated")
    if translated is False:
        return Result.PASSED, _("The process is not translated.")
    if translated is True:
        return Result.FAILED, _("The process runs under Rosetta: use an arm64 Python.")
    return Result.FAILED, _("Whether the process runs under Rosetta was not told.")


def _python(values: Values) -> Judgement:
    python = values["python"]
    return Result.PASSED, _("{implementation} {version}, {path}.").format(
        implementation=python["implementation"],
        version=python["version"],
        path=python["executable"],
    )


def _libraries(values: Values) -> Judgement:
    looked, without = values["libraries"]["looked"], values["libraries"]["without_arm64"]
    if not looked:
        return Result.WARNING, _("No compiled library was found to look at.")
    if without:
        return Result.FAILED, _("Without arm64 code: {names}.").format(names=some(without))
    return Result.PASSED, plural(
        "{n} library, with arm64 code.", "{n} libraries, all with arm64 code.", looked
    )


def _torch(values: Values) -> Judgement:
    torch, cuda = values["torch"], values["cuda"]
    build = torch.get("cuda") or torch.get("hip")
    summary = (
        _("PyTorch {version}, built for CUDA or ROCm {build}.")
        if build
        else _("PyTorch {version}, built without CUDA.")
    ).format(version=torch["version"], build=build)
    if cuda.get("available"):
        devices = [str(name) for name in cuda["devices"]]
        summary += " " + _("CUDA devices: {names}.").format(names=some(devices))
    return Result.PASSED, summary


def _torch_installed(values: Values) -> Judgement:
    answer = values["torch_installed"]
    if answer.get("installed") is not True:
        return Result.FAILED, _("PyTorch is not installed there.")
    return Result.PASSED, _("PyTorch {version}, installed by {installer}, {moment}.").format(
        version=answer["version"],
        installer=_text(answer, "installer") or _("an unnamed installer"),
        moment=_text(answer, "installed_at") or _("at an unknown time"),
    )


def _packages(values: Values) -> Judgement:
    versions = values["packages"]["versions"]
    if not versions:
        return Result.WARNING, _("The project's files name no dependency.")
    missing = sorted(name for name, version in versions.items() if version is None)
    there = [f"{name} {version}" for name, version in versions.items() if version is not None]
    if missing:
        return Result.WARNING, _("Not installed: {names}.").format(names=some(missing))
    return Result.PASSED, some(there, 5) + "."


def _virtual(values: Values) -> Judgement:
    python = values["python"]
    if python["conda"]:
        return Result.PASSED, _("The conda environment {path}.").format(path=python["prefix"])
    if python["virtual"]:
        return Result.PASSED, _("The virtual environment {path}.").format(path=python["prefix"])
    return Result.WARNING, _("No virtual environment: it shares its packages with others.")


def _variables(values: Values) -> Judgement:
    told = [f"{name}={value}" for name, value in values["variables"].items()]
    return Result.PASSED, some(told, 5) + "." if told else _("None is set.")


def _mps_built(values: Values) -> Judgement:
    if values["mps_built"].get("value") is True:
        return Result.PASSED, _("This PyTorch was built with MPS.")
    return Result.FAILED, _("This PyTorch was built without MPS.")


def _mps_available(values: Values) -> Judgement:
    if values["mps_available"].get("value") is True:
        return Result.PASSED, _("This machine and system can use MPS.")
    return Result.FAILED, _("This machine or system cannot use MPS.")


def _mps_tensor(values: Values) -> Judgement:
    answer = values["mps_tensor"]
    if _summed(answer, "mps"):
        return Result.PASSED, _("Sixteen ones were summed on {device}.").format(
            device=answer["device"]
        )
    error = _text(answer, "error")
    if error:
        return Result.FAILED, error.splitlines()[0][:300]
    return Result.FAILED, _("The sum came out as {sum} on {device}, not as 16 on mps.").format(
        sum=answer.get("sum"), device=answer.get("sum_device")
    )


def _imported(values: Values) -> Judgement:
    if not values:
        return Result.WARNING, _("The project's files name no dependency.")
    names = {question.removeprefix(IMPORT): value for question, value in values.items()}
    failed = [f"{name} ({value['error']})" for name, value in names.items() if "error" in value]
    if failed:
        return Result.FAILED, _("Not importable: {names}.").format(names=some(failed))
    missing = [name for name, value in names.items() if not value.get("installed")]
    if missing:
        return Result.WARNING, _("Not installed: {names}.").format(names=some(missing))
    unnamed = [name for name, value in names.items() if value.get("exit") != 0]
    if unnamed:
        return Result.WARNING, _("Without a module to import: {names}.").format(names=some(unnamed))
    return Result.PASSED, plural("{n} package imports.", "{n} packages import.", len(names))


_JUDGES: dict[str, tuple[tuple[str, ...], Callable[[Values], Judgement]]] = {
    "environment.macos": (("system",), _macos),
    "environment.arm64": (("system",), _arm64),
    "environment.python": (("python",), _python),
    "environment.rosetta": (("system",), _rosetta),
    "environment.libraries": (("libraries",), _libraries),
    "environment.torch": (("torch", "cuda"), _torch),
    "environment.packages": (("packages",), _packages),
    "environment.torch-installed": (("torch_installed",), _torch_installed),
    "environment.virtual": (("python",), _virtual),
    "environment.variables": (("variables",), _variables),
    "environment.mps-built": (("mps_built",), _mps_built),
    "environment.mps-available": (("mps_available",), _mps_available),
    "environment.mps-tensor": (("mps_tensor",), _mps_tensor),
    "environment.imports": ((IMPORT,), _imported),
}

# Items whose answer from another system means nothing at all.
_MAC_ALONE = frozenset(
    {"environment.macos", "environment.arm64", "environment.rosetta", "environment.libraries"}
)

#: The questions whose answers fill an item.
ITEM_QUESTIONS: Mapping[str, tuple[str, ...]] = {
    item: questions for item, (questions, _judge) in _JUDGES.items()
}

#: Items that a check fills by reading the project's files, running nothing.
STATIC_ITEMS = ("inventory.dependencies", "environment.lock-file")
