"""The questions of the acceptance checklist, as data."""

from project.translation import N_
from project.vocabulary import Item, On

GROUPS: tuple[tuple[str, str], ...] = (
    ("inventory", N_("Inventory")),
    ("baseline", N_("CUDA baseline")),
    ("environment", N_("Environment")),
    ("sample", N_("Sample run")),
    ("operators", N_("Operators and fallbacks")),
    ("numbers", N_("Numbers")),
    ("practicality", N_("Practicality")),
    ("remote", N_("Remote Mac")),
)

_MPS = (On.MPS,)
_STATIC = (On.STATIC,)

_SCAN = N_("Filled by the scan and by what you decide about its findings.")
_CHECK = N_("Run `cuda2mps check --on local` on the Mac.")
_READ = N_("Run `cuda2mps check --on local`: it reads the project's files for this item.")
_SAMPLE = N_("Needs the project's own sample observed on a Mac, which this version cannot do yet.")
_COMPARE = N_(
    "Needs a run on the Mac compared with the CUDA baseline, which this version cannot do yet."
)
_REMOTE = N_("Only asked when the Mac is reached over SSH, which this version cannot do yet.")

_OPERATORS = N_(
    "Needs the list of PyTorch operators that the project uses, which this version does not "
    "make yet."
)
_RESOLVE = N_(
    "Needs a real resolver asked for macOS arm64 wheels, which this version cannot do yet; by"
    " hand: `uv pip compile --python-platform aarch64-apple-darwin --only-binary :all:`, "
    "without editable and local lines."
)
_RECORD = N_("Needs a reference run recorded on the CUDA server, which this version cannot do yet.")
_TERMINAL = N_("This version cannot read it yet; by hand: `arch` in the terminal on the Mac.")
_MODEL = N_(
    "This version has no place to name the model, its checkpoint and its preprocessing yet."
)
_COVERAGE = N_(
    "Needs the project's operators compared with what MPS has in the release, which this "
    "version cannot do yet."
)
_TOLERANCE = N_("This version has no place to state the tolerances yet.")


def _item(id: str, needs: tuple[On, ...], title: str, how: str) -> Item:
    return Item(id, id.partition(".")[0], title, needs, how)


# In the order in which they are asked.
ITEMS: tuple[Item, ...] = (
    _item("inventory.dependencies", _STATIC, N_("Dependencies and install scripts listed"), _READ),
    _item(
        "inventory.extensions",
        _STATIC,
        N_("Custom extensions and CUDA-only libraries listed"),
        _SCAN,
    ),
    _item("inventory.operators", _STATIC, N_("Key operators listed"), _OPERATORS),
    _item("inventory.device-calls", _STATIC, N_("Device calls settled"), _SCAN),
    _item("inventory.kernels", _STATIC, N_("Each kernel decided"), _SCAN),
    _item(
        "inventory.environment-files",
        _STATIC,
        N_("Environment files resolvable for macOS arm64"),
        _RESOLVE,
    ),
    _item(
        "baseline.recorded",
        (On.CUDA,),
        N_(
            "CUDA run recorded: versions, inputs, configuration, seeds, precision, batch, "
            "key outputs"
        ),
        _RECORD,
    ),
    _item("environment.macos", _MPS, N_("macOS version"), _CHECK),
    _item("environment.arm64", _MPS, N_("Native arm64 Python"), _CHECK),
    _item("environment.python", _MPS, N_("Python version and path"), _CHECK),
    _item("environment.rosetta", _MPS, N_("Python does not run under Rosetta"), _CHECK),
    _item("environment.libraries", _MPS, N_("No x86_64 library among the packages"), _CHECK),
    _item("environment.terminal", _MPS, N_("Terminal's architecture"), _TERMINAL),
    _item("environment.torch", _MPS, N_("PyTorch version"), _CHECK),
    _item("environment.packages", _MPS, N_("Package versions"), _CHECK),
    _item("environment.torch-installed", _MPS, N_("How and when PyTorch was installed"), _CHECK),
    _item("environment.virtual", _MPS, N_("Virtual environment"), _CHECK),
    _item("environment.lock-file", _STATIC, N_("Lock file hash"), _READ),
    _item(
        "environment.model",
        _MPS,
        N_("Model source, checkpoint hash, preprocessing version"),
        _MODEL,
    ),
    _item("environment.variables", _MPS, N_("PYTORCH_* and CUDA_* variables"), _CHECK),
    _item("environment.mps-built", _MPS, N_("MPS built"), _CHECK),
    _item("environment.mps-available", _MPS, N_("MPS available"), _CHECK),
    _item("environment.mps-tensor", _MPS, N_("Smallest tensor run on MPS"), _CHECK),
    _item("environment.imports", _MPS, N_("Each direct dependency imports"), _CHECK),
    _item("sample.runs", _MPS, N_("Sample runs"), _SAMPLE),
    _item(
        "sample.reaches", _MPS, N_("Sample reaches the core modules, findings and kernels"), _SAMPLE
    ),
    _item("sample.parameters", _MPS, N_("Parameters on the device"), _SAMPLE),
    _item(
        "sample.inputs", _MPS, N_("Inputs, labels, masks and extra features on the device"), _SAMPLE
    ),
    _item(
        "sample.data-path",
        _MPS,
        N_("Augmentation, metrics and post-processing keep to the device"),
        _SAMPLE,
    ),
    _item("sample.forward", _MPS, N_("Forward pass completes on the device"), _SAMPLE),
    _item("sample.loss", _MPS, N_("Loss on the device"), _SAMPLE),
    _item("sample.backward", _MPS, N_("Backward pass and optimizer stay on the device"), _SAMPLE),
    _item("sample.checkpoint-saved", _MPS, N_("Checkpoint saved"), _SAMPLE),
    _item("sample.checkpoint-clean", _MPS, N_("Checkpoint loads in a clean environment"), _SAMPLE),
    _item(
        "sample.checkpoint-across",
        _MPS,
        N_("Checkpoint loads across CUDA and Mac, both ways"),
        _SAMPLE,
    ),
    _item("operators.coverage", _MPS, N_("Operators covered by the PyTorch release"), _COVERAGE),
    _item(
        "operators.fallbacks", _MPS, N_("Each fallback to the CPU recorded and accepted"), _SAMPLE
    ),
    _item("operators.fallback-off", _MPS, N_("Run with the fallback off"), _SAMPLE),
    _item(
        "numbers.input",
        _MPS,
        N_("Input agrees: data order, missing values, seeds, preprocessing"),
        _COMPARE,
    ),
    _item(
        "numbers.model", _MPS, N_("Model agrees: structure, weight format, keys, loading"), _COMPARE
    ),
    _item(
        "numbers.execution",
        _MPS,
        N_("Execution recorded: device, dtype, batch, versions, fallbacks"),
        _COMPARE,
    ),
    _item(
        "numbers.output",
        _MPS,
        N_("Output agrees: predictions, metrics, statistics, loss curve"),
        _COMPARE,
    ),
    _item("numbers.tolerance", _STATIC, N_("Tolerance chosen beforehand, by dtype"), _TOLERANCE),
    _item("numbers.witness", (On.CPU,), N_("CPU as third witness"), _COMPARE),
    _item("practicality.small-batch", _MPS, N_("Small batch"), _SAMPLE),
    _item("practicality.real-batch", _MPS, N_("Near-real batch"), _SAMPLE),
    _item("practicality.mixed-precision", _MPS, N_("Mixed precision stays on"), _SAMPLE),
    _item("practicality.memory", _MPS, N_("Memory pressure"), _SAMPLE),
    _item("practicality.time", _MPS, N_("Time within the project's limit"), _SAMPLE),
    _item("practicality.resumed", _MPS, N_("Interrupted and resumed"), _SAMPLE),
    _item("remote.consent", _STATIC, N_("A person signed that the data may leave"), _REMOTE),
    _item("remote.connected", _MPS, N_("Connected"), _REMOTE),
    _item("remote.isolated", _MPS, N_("Environment of its own"), _REMOTE),
    _item("remote.sent", _MPS, N_("Project sent"), _REMOTE),
    _item("remote.ran", _MPS, N_("Ran non-interactively, timed there"), _REMOTE),
    _item("remote.reconnected", _MPS, N_("Connection lost and found again"), _REMOTE),
    _item("remote.fetched", _MPS, N_("Results fetched, hashes checked"), _REMOTE),
    _item("remote.cleaned", _MPS, N_("Cleaned up"), _REMOTE),
)
