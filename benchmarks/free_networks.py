"""Networks of their published width with free sizes: exported twice by TorchScript, with fixed and with free sizes."""
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

LAYERS = 4      # of the decoders and encoders of text: enough for every kernel, small enough for a laptop


@dataclass(frozen=True)
class Network:
    """`make()` is a module; `inputs(**sizes)` its arguments by name; `free` the free axes of each argument; `sizes` those of
    the fixed export; `lengths` is the name of the size that counts words, frames or steps, or None."""
    make: Callable
    inputs: Callable
    free: dict
    sizes: dict
    lengths: str | None = None


def picture(name, library="torchvision"):

    def make():
        if library == "timm":
            import timm
            return timm.create_model(name)
        import torchvision
        return getattr(torchvision.models, name)(weights=None)

    def inputs(batch):
        import torch
        return {"x": torch.randn(batch, 3, 224, 224)}

    return Network(make, inputs, {"x": {0: "batch"}}, {"batch": 1})


def first_output(model, name, masked=False):
    """A module that returns one tensor of what `model` returns; `masked` gives it a mask where every word stands."""
    import torch
    from torch import nn

    class First(nn.Module):

        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, x):
            made = self.model(x, attention_mask=torch.ones_like(x)) if masked else self.model(x)
            return made[0] if name is None else getattr(made, name)

    return First()


def words(kind, output="last_hidden_state", length=128, **config):

    def make():
        import transformers as hf
        model = kind(hf, config)
        return first_output(model, output, masked=True)

    def inputs(batch, length):
        import torch
        return {"x": torch.randint(2, 30000, (batch, length))}

    return Network(make, inputs, {"x": {0: "batch", 1: "length"}}, {"batch": 1, "length": length}, "length")


def bert(hf, config):
    return hf.BertModel(hf.BertConfig(**config), add_pooling_layer=False)


def gpt2(hf, config):
    return hf.GPT2Model(hf.GPT2Config(use_cache=False, **config))


def llama(hf, config):
    return hf.LlamaModel(hf.LlamaConfig(use_cache=False, **config))


def t5(hf, config):
    return hf.T5EncoderModel(hf.T5Config(**config))


def recurrent(kind):

    def make():
        from torch import nn
        return first_output(getattr(nn, kind)(256, 256, batch_first=True), None)

    def inputs(batch, length):
        import torch
        return {"x": torch.randn(batch, length, 256)}

    return Network(make, inputs, {"x": {0: "batch", 1: "length"}}, {"batch": 1, "length": 100}, "length")


def whisper():
    import transformers as hf
    config = hf.WhisperConfig(d_model=384, encoder_layers=LAYERS, encoder_attention_heads=6, encoder_ffn_dim=1536)
    return first_output(hf.WhisperModel(config).get_encoder(), "last_hidden_state")


def spectrogram(batch):
    import torch
    return {"x": torch.randn(batch, 80, 3000)}


NETWORKS = {
    "bert": words(bert, num_hidden_layers=LAYERS),
    "llama": words(llama, length=64, num_hidden_layers=LAYERS, hidden_size=1024, intermediate_size=2816,
                   num_attention_heads=16, num_key_value_heads=8),
    "gpt2": words(gpt2, length=64, n_layer=LAYERS),
    "t5": words(t5, num_layers=LAYERS),
    "vit": picture("vit_b_16"),
    "convnext": picture("convnext_tiny"),
    "gru": recurrent("GRU"),
    "lstm": recurrent("LSTM"),
    "mobilenet": picture("mobilenet_v3_small"),
    "efficientnet": picture("efficientnet_b0"),
    "swin": picture("swin_t"),
    "resnet18": picture("resnet18"),
    "whisper": Network(whisper, spectrogram, {"x": {0: "batch"}}, {"batch": 1}),
}


def export(folder, name):
    """NAME.fixed.onnx and NAME.free.onnx, if they are not there yet. Needs torch, torchvision, transformers and onnx."""
    row = NETWORKS[name]
    paths = {form: Path(folder) / f"{name}.{form}.onnx" for form in ("fixed", "free")}
    if all(path.exists() for path in paths.values()):
        return paths
    import torch
    warnings.filterwarnings("ignore")
    torch.manual_seed(0)
    torch.backends.mha.set_fastpath_enabled(False)      # its operator has no ONNX
    model = row.make().eval()
    for form, path in paths.items():
        # Two images make sure that a traced model does not take its batch for a constant.
        sizes = row.sizes if form == "fixed" else row.sizes | {"batch": 2}
        arguments = row.inputs(**sizes)
        with torch.no_grad():
            torch.onnx.export(model, tuple(arguments.values()), str(path) + ".part", dynamo=False,
                              input_names=list(arguments), output_names=["y"], opset_version=17,
                              dynamic_axes=row.free | {"y": {0: "batch"}} if form == "free" else None)
        Path(str(path) + ".part").rename(path)
    return paths
