"""torchvision: classification, segmentation, detection, video. Widths and depths are small where full size is slow."""
from functools import partial

import torch
import torchvision.models as tv
from torch import nn
from torchvision.models import detection, segmentation, video
from torchvision.models.convnext import CNBlockConfig
from torchvision.models.detection.backbone_utils import resnet_fpn_backbone
from torchvision.models.regnet import BlockParams

from .model import DYNAMO, TORCHSCRIPT, Model

BATCH = {"image": {0: "batch"}}
BATCH_AND_SIZE = {"image": {0: "batch", 2: "height", 3: "width"}}


def image(batch=1, height=64, width=64, channels=3):
    return {"image": torch.randn(batch, channels, height, width)}


def sized(*rows):
    return tuple(dict(zip(("batch", "height", "width"), row)) for row in rows)


SIZES = sized((1, 64, 64), (2, 96, 64), (3, 70, 101))
SQUARES = sized((1, 64, 64), (2, 64, 64), (5, 64, 64))
LARGE = sized((1, 224, 224), (2, 224, 224), (3, 224, 224))


def network(name, make, dynamic=None, sizes=None, **more):
    dynamic = dynamic or BATCH_AND_SIZE
    sizes = sizes or (SIZES if dynamic is BATCH_AND_SIZE else SQUARES)
    return Model(name, "torchvision", make, image, dynamic, sizes, **more)


def small_vgg():
    model = tv.vgg11_bn(num_classes=10)
    model.classifier = nn.Sequential(nn.Linear(512 * 49, 64), nn.ReLU(True), nn.Dropout(), nn.Linear(64, 10))
    return model


def small_alexnet():
    model = tv.alexnet(num_classes=10)
    model.classifier = nn.Sequential(nn.Dropout(), nn.Linear(256 * 36, 64), nn.ReLU(True), nn.Linear(64, 10))
    return model


def convnext():
    return tv.ConvNeXt([CNBlockConfig(16, 32, 2),
                        CNBlockConfig(32, 64, 1),
                        CNBlockConfig(64, None, 1)], num_classes=10)


def regnet():
    return tv.RegNet(
        BlockParams.from_init_params(depth=6, w_0=24, w_a=24.48, w_m=2.54, group_width=8, se_ratio=0.25),
        num_classes=10)


def swin(make=tv.SwinTransformer, **more):
    return make(patch_size=[4, 4], embed_dim=24, depths=[2, 2], num_heads=[2, 4], window_size=[4, 4],
                num_classes=10, **more)


def swin_v2():
    from torchvision.models.swin_transformer import PatchMergingV2, SwinTransformerBlockV2
    return swin(block=SwinTransformerBlockV2, downsample_layer=PatchMergingV2)


def vit():
    return tv.VisionTransformer(image_size=64, patch_size=16, num_layers=2, num_heads=4, hidden_dim=64,
                                mlp_dim=128, num_classes=10)


def maxvit():
    return tv.MaxVit(input_size=(64, 64), stem_channels=16, partition_size=4, block_channels=[16, 32],
                     block_layers=[1, 1], head_dim=8, stochastic_depth_prob=0.0, num_classes=10)


def small_resnet(**more):
    return tv.ResNet(tv.resnet.Bottleneck, [1, 1, 1, 1], num_classes=10, **more)


CLASSIFIERS = [
    network("alexnet", small_alexnet, BATCH, LARGE),
    network("convnext", convnext),
    network("densenet", partial(tv.DenseNet, 8, (2, 3, 3, 2), 16, num_classes=10)),
    network("efficientnet_b0", partial(tv.efficientnet_b0, num_classes=10)),
    network("googlenet", partial(tv.googlenet, num_classes=10, aux_logits=False, init_weights=False)),
    network("inception_v3", partial(tv.inception_v3, num_classes=10, aux_logits=False, init_weights=False),
            sizes=sized((1, 75, 75), (2, 96, 80), (3, 83, 99))),
    network("maxvit", maxvit, BATCH),
    network("mnasnet0_5", partial(tv.mnasnet0_5, num_classes=10)),
    network("mobilenet_v2", partial(tv.mobilenet_v2, num_classes=10)),
    network("mobilenet_v3_small", partial(tv.mobilenet_v3_small, num_classes=10)),
    network("regnet_y", regnet),
    network("resnet18", partial(tv.resnet18, num_classes=10)),
    network("resnet_bottleneck", small_resnet),
    network("resnext", partial(small_resnet, groups=8, width_per_group=8)),
    network("shufflenet_v2", partial(tv.shufflenet_v2_x0_5, num_classes=10)),
    network("squeezenet1_1", partial(tv.squeezenet1_1, num_classes=10)),
    network("swin", swin, BATCH),
    network("swin_v2", swin_v2, BATCH),
    network("vgg11_bn", small_vgg, BATCH, LARGE),
    network("vit", vit, BATCH),
]


class OnlyOut(nn.Module):
    """The map of classes, without the auxiliary one."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, image):
        return self.model(image)["out"]


def dilated(head):
    backbone = small_resnet(replace_stride_with_dilation=[False, True, True])
    return OnlyOut(head(backbone, 5, None))


SEGMENTATION = [
    network("fcn", partial(dilated, segmentation.fcn._fcn_resnet)),
    network("deeplabv3", partial(dilated, segmentation.deeplabv3._deeplabv3_resnet)),
    network("lraspp",
            lambda: OnlyOut(segmentation.lraspp_mobilenet_v3_large(weights_backbone=None, num_classes=5))),
]


class Detector(nn.Module):
    """Boxes, scores, labels and keypoints of one image."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, image):
        found = self.model([image])
        found = (found[1] if isinstance(found, tuple) else found)[0]
        names = ("boxes", "scores", "labels", "keypoints", "keypoints_scores")
        return tuple(found[name] for name in names if name in found)


def one_image(height=96, width=96):
    return {"image": torch.rand(3, height, width)}


def detector(name, make, dynamic=True, sizes=((96, 96), (96, 128), (128, 112))):
    return Model(name, "torchvision detection", lambda: Detector(make()), one_image,
                 {"image": {1: "height", 2: "width"}} if dynamic else {},
                 tuple(dict(height=h, width=w) for h, w in sizes))


SMALL = dict(min_size=96, max_size=160, num_classes=5)


def fpn(**more):
    return resnet_fpn_backbone(backbone_name="resnet18", weights=None, trainable_layers=5, **more)


def retinanet():
    from torchvision.ops.feature_pyramid_network import LastLevelP6P7
    model = detection.RetinaNet(fpn(returned_layers=[2, 3, 4], extra_blocks=LastLevelP6P7(256, 256)), topk_candidates=50,
                                **SMALL)
    return alive(model, (model.head.classification_head.cls_logits, model.head.regression_head.bbox_reg), 0.003)


def alive(model, last=(), scale=1.0):
    """With weights of a size that keeps signals alive, those of the last layers times `scale`: torchvision's own make of
    every box nearly the same score, so that none is found, or which of equal ones are taken is nobody's to say."""
    for layer in model.modules():
        if isinstance(layer, torch.nn.Conv2d):
            torch.nn.init.kaiming_normal_(layer.weight)
    for layer in last:
        layer.weight.data *= scale
    return model


def last_of_heads(model):
    """The last convolutions of the heads of an SSD."""
    for head in (model.head.classification_head, model.head.regression_head):
        for layer in head.module_list:
            yield layer[-1] if isinstance(layer, torch.nn.Sequential) else layer


def ssdlite():
    model = detection.ssdlite320_mobilenet_v3_large(weights_backbone=None, num_classes=5, topk_candidates=30)
    return alive(model, last_of_heads(model), 0.03)


def ssd300():
    model = detection.ssd300_vgg16(weights=None, weights_backbone=None, num_classes=5, topk_candidates=30)
    return alive(model, last_of_heads(model), 0.003)


def faster_rcnn(make=detection.FasterRCNN):
    return make(fpn(), rpn_pre_nms_top_n_test=50, rpn_post_nms_top_n_test=20, **SMALL)


def mask_rcnn():
    return faster_rcnn(detection.MaskRCNN)


def keypoint_rcnn():
    return detection.KeypointRCNN(fpn(), num_keypoints=5, rpn_pre_nms_top_n_test=50, rpn_post_nms_top_n_test=20,
                                  **SMALL | {"num_classes": 2})


def fcos():
    from torchvision.ops.feature_pyramid_network import LastLevelP6P7
    return alive(detection.FCOS(fpn(returned_layers=[2, 3, 4], extra_blocks=LastLevelP6P7(256, 256)),
                                topk_candidates=50, **SMALL))


DETECTION = [
    detector("faster_rcnn", faster_rcnn),
    detector("mask_rcnn", mask_rcnn),
    detector("keypoint_rcnn", keypoint_rcnn),
    detector("fcos", fcos),
    detector("retinanet", retinanet),
    # Resized to 320 by scales that f32 has exactly, as ONNX Runtime computes positions in it.
    detector("ssd300", ssd300, sizes=((300, 300), (150, 300), (300, 150))),
    detector("ssdlite320", ssdlite, sizes=((320, 320), (160, 320), (128, 256))),
]


def clip(batch=1):
    return {"clip": torch.randn(batch, 3, 4, 32, 32)}


def flow(batch=1):
    return {"first": torch.rand(batch, 3, 128, 128), "second": torch.rand(batch, 3, 128, 128)}


VIDEO = [
    Model(name, "torchvision video", partial(make, num_classes=10), clip, {"clip": {0: "batch"}},
          tuple(dict(batch=b) for b in (1, 2, 3)))
    for name, make in (("r3d_18", video.r3d_18), ("r2plus1d_18", video.r2plus1d_18))
]

MODELS = CLASSIFIERS + SEGMENTATION + DETECTION + VIDEO
