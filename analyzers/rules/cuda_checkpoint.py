"""E327: a checkpoint whose tensors were saved from CUDA."""

from collections.abc import Iterator

from analyzers.binaries.document import BinaryDocument
from analyzers.binaries.evidence import listed
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: BinaryDocument) -> Iterator[Match]:
    """The file, once, with the devices that its tensors were saved from."""
    inside = _cuda(document.all("storage-inside"))
    devices = _cuda(document.all("storage"))
    if not devices and not inside:
        return
    if not devices:
        message = _(
            "A plain pickle of tensors on {devices}: unpickling puts them back there and has no "
            "map_location, so on a Mac it raises. Move them to the CPU and save them again."
        )
    elif "torchscript" in document.all("form"):
        message = _(
            "A TorchScript program saved from {devices}: on a Mac torch.jit.load raises unless it "
            'is given map_location="cpu".'
        )
    else:
        message = _(
            "Its tensors were saved from {devices}: on a Mac torch.load raises unless it is given "
            "a map_location."
        )
    text = listed(devices or inside)
    yield Match(0, 0, message.format(devices=text) + _more(document), text=text)


def _cuda(places: tuple[str, ...]) -> list[str]:
    return [place for place in places if place.partition(":")[0] == "cuda"]


def _more(document: BinaryDocument) -> str:
    """What else whoever loads it should know."""
    said = ""
    if any(name.startswith("torch.nn.modules.") for name in document.all("global")):
        said += " " + _("It holds whole modules, so that loading needs their classes too.")
    if document.all("runs"):
        said += " " + _("Unpickling it would run {function}: do not load it.").format(
            function=listed(document.all("runs"))
        )
    return said


RULE = Rule(
    code="E327",
    name="cuda-checkpoint",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=BinaryDocument,
    triggers=(b"storage",),
    what=N_("A checkpoint's tensors were saved from a CUDA device."),
    why=N_(
        "Loading puts every tensor back where it was saved from and raises where that device does "
        'not exist: "Attempting to deserialize object on a CUDA device".'
    ),
    advice=N_(
        'Give torch.load a map_location ("cpu", then move the model to its device), or save the '
        "file again from the CPU, which loads everywhere."
    ),
    source="https://docs.pytorch.org/docs/stable/generated/torch.load.html",
    find=find,
    examples=(
        Example(
            path="weights/best.pt",
            text="""\
                kind checkpoint-zip
                form checkpoint
                global torch._utils._rebuild_tensor_v2
                global torch.FloatStorage
                storage cuda:0
                storage cpu
                """,
            finds=("cuda:0",),
        ),
        Example(
            path="net.ts",
            text="kind checkpoint-zip\nform torchscript\nstorage cuda:0\nstorage cuda:1\n",
            finds=("cuda:0, cuda:1",),
        ),
        Example(
            path="results.pkl",
            text="kind pickle\nglobal torch.storage._load_from_bytes\nstorage-inside cuda:0\n",
            finds=("cuda:0",),
        ),
        Example(
            path="weights/cpu.pt",
            text="kind checkpoint-zip\nform checkpoint\nglobal torch.FloatStorage\nstorage cpu\n",
        ),
        Example(path="weights/mac.pt", text="kind checkpoint-zip\nform checkpoint\nstorage mps\n"),
        Example(path="cuda.pkl", text="kind pickle\nglobal collections.OrderedDict\n"),
        Example(
            path="model.pt", text="kind checkpoint\nglobal torch.cuda.FloatTensor\nstorage cpu\n"
        ),
    ),
)
