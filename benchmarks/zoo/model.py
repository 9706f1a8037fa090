"""A row of the table of models: what it is, how it is made, what goes in, which sizes are free."""
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Callable

TORCHSCRIPT, DYNAMO = "torchscript", "dynamo"
EXPORTERS = (TORCHSCRIPT, DYNAMO)
FORMS = ("static", "dynamic")
LIBRARIES = "torch torchvision transformers timm diffusers onnx onnxscript onnxruntime".split()


@dataclass(frozen=True)
class Model:
    """`make()` is a module with random weights; `inputs(**sizes)` its arguments by name, in order, where a tuple is one
    argument of several tensors, called NAME.0, NAME.1, ... `dynamic` has the free axes of an argument (of several tensors:
    of each, or a tuple that its tensors take in turns); `sizes` three rows of values: the first is that of the static
    export, the second the example of the dynamic one. `tolerance` is relative to the largest element of an output. `flags`
    are those of svodc that the dynamic form needs where the model cannot say it itself."""
    name: str
    family: str
    make: Callable
    inputs: Callable
    dynamic: dict = field(default_factory=dict)
    sizes: tuple = ({}, {}, {})
    tolerance: float = 1e-4
    exporters: tuple = EXPORTERS
    forms: tuple = FORMS
    flags: tuple = ()

    @property
    def variants(self):
        return [(e, f) for e in self.exporters for f in self.forms if f == "static" or self.dynamic]


@dataclass(frozen=True)
class Derived:
    """An exported model that `change(path, new path, cases)` made another of: quantized, or of other floats."""
    name: str
    family: str
    base: str
    change: Callable
    tolerance: float
    exporters: tuple = EXPORTERS
    forms: tuple = FORMS
    flags: tuple = ()

    @property
    def variants(self):
        return [(e, f) for e in self.exporters for f in self.forms]


def flat(arguments):
    """Tensors by name."""
    found = {}
    for name, value in arguments.items():
        if isinstance(value, (tuple, list)):
            found.update({f"{name}.{i}": v for i, v in enumerate(value)})
        else:
            found[name] = value
    return found


def versions():
    """Of the libraries; raises ImportError naming all that are missing."""
    found, missing = {}, []
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        raise ImportError(f"not installed: {', '.join(missing)}; pip install {' '.join(missing)}")
    return found


def file_name(name):
    """As svod-run names the file of an output."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in name)
