"""Networks of their published size, with random weights: torchvision's and timm's, exported by TorchScript for one image."""
import warnings
from pathlib import Path

# Parameters of lib/cost were set with these in view; the others only tell how well it predicts.
CALIBRATED = ("swin_t", "mixer_s16_224", "maxvit_t", "resnet18", "mobilenet_v3_large", "convnext_tiny", "densenet121",
              "deit_small_patch16_224")
HELD_OUT = ("resnet50", "efficientnet_b0", "regnet_y_400mf", "poolformer_s12", "levit_256", "mobilevit_s", "swin_v2_t",
            "googlenet", "squeezenet1_1", "shufflenet_v2_x1_0")
# Timed beside peers with those above.
OTHERS = ("vgg16", "alexnet", "mnasnet1_0", "inception_v3", "resnext50_32x4d", "efficientnet_v2_s", "vit_b_16",
          "repvgg_a2", "hrnet_w18", "edgenext_small", "deeplabv3_resnet50")
SIZE = 224


def made(name):
    import timm
    import torchvision
    if name.startswith("deeplab"):
        return getattr(torchvision.models.segmentation, name)(weights=None, weights_backbone=None)
    if hasattr(torchvision.models, name):
        return getattr(torchvision.models, name)(weights=None)
    return timm.create_model(name)


def result(module):
    """A module with one tensor as its result: that of segmentation is called `out`."""
    import torch

    class Out(torch.nn.Module):

        def __init__(self):
            super().__init__()
            self.module = module

        def forward(self, x):
            y = self.module(x)
            return y["out"] if isinstance(y, dict) else y

    return Out().eval()


def export(folder, names=(*CALIBRATED, *HELD_OUT)):
    """NAME.onnx for each that is not there yet. Needs torch, torchvision, timm and onnx."""
    import torch
    warnings.filterwarnings("ignore")
    torch.backends.mha.set_fastpath_enabled(False)  # which has no form in ONNX
    for name in names:
        path = Path(folder) / f"{name}.onnx"
        if path.exists():
            continue
        torch.manual_seed(0)
        image = torch.randn(1, 3, SIZE, SIZE)
        with torch.no_grad():
            torch.onnx.export(result(made(name)), (image,), str(path) + ".part", dynamo=False, input_names=["x"],
                              output_names=["y"], opset_version=17)
        Path(str(path) + ".part").rename(path)
