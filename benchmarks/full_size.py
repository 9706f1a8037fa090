"""Networks of their published size, with random weights: torchvision's and timm's, exported by TorchScript for one image."""
import warnings
from pathlib import Path

# Parameters of lib/cost were set with these in view; the others only tell how well it predicts.
CALIBRATED = ("swin_t", "mixer_s16_224", "maxvit_t", "resnet18", "mobilenet_v3_large", "convnext_tiny", "densenet121",
              "deit_small_patch16_224")
HELD_OUT = ("resnet50", "efficientnet_b0", "regnet_y_400mf", "poolformer_s12", "levit_256", "mobilevit_s", "swin_v2_t",
            "googlenet", "squeezenet1_1", "shufflenet_v2_x1_0")
SIZE = 224


def made(name):
    import timm
    import torchvision
    if hasattr(torchvision.models, name):
        return getattr(torchvision.models, name)(weights=None)
    return timm.create_model(name)


def export(folder, names=(*CALIBRATED, *HELD_OUT)):
    """NAME.onnx for each that is not there yet. Needs torch, torchvision, timm and onnx."""
    import torch
    warnings.filterwarnings("ignore")
    for name in names:
        path = Path(folder) / f"{name}.onnx"
        if path.exists():
            continue
        torch.manual_seed(0)
        image = torch.randn(1, 3, SIZE, SIZE)
        with torch.no_grad():
            torch.onnx.export(made(name).eval(), (image,), str(path) + ".part", dynamo=False, input_names=["x"],
                              output_names=["y"], opset_version=17)
        Path(str(path) + ".part").rename(path)
