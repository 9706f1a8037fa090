"""timm, diffusers, recurrent layers."""
from functools import partial

import timm
import torch
from torch import nn

from .model import Model

SIZES = tuple(dict(batch=b) for b in (1, 2, 5))


def image(batch, side=64):
    return {"image": torch.randn(batch, 3, side, side)}


def from_timm(name, model, **more):
    """A row for a class, or for what `timm.create_model` makes of a name."""
    make = model if callable(model) else partial(timm.create_model, model, pretrained=False)
    return Model(name, "timm", partial(make, num_classes=10, **more), image, {"image": {0: "batch"}}, SIZES)


def unfused(name, **more):
    """With attention as products and a softmax: TorchScript cannot trace the call that fuses them."""
    model = timm.create_model(name, pretrained=False, **more)
    for layer in model.modules():
        if hasattr(layer, "fused_attn"):
            layer.fused_attn = False
    return model


TINY = dict(img_size=64, embed_dim=48, num_heads=4)
TIMM = [
    from_timm("beit", "beit_base_patch16_224", depth=2, **TINY),
    from_timm("cait", "cait_xxs24_224", depth=2, **TINY),
    from_timm("coat", "coat_tiny", img_size=64),
    from_timm("convmixer", timm.models.ConvMixer, dim=48, depth=3),
    from_timm("crossvit", "crossvit_9_240"),
    from_timm("edgenext", "edgenext_xx_small"),
    from_timm("eva02", partial(unfused, "eva02_tiny_patch14_224"), depth=2, patch_size=16, **TINY),
    from_timm("fastvit", "fastvit_t8"),
    from_timm("focalnet", timm.models.FocalNet, embed_dim=24, depths=(1, 1, 2, 1)),
    from_timm("ghostnet", "ghostnet_050"),
    from_timm("hrnet", "hrnet_w18_small"),
    from_timm("levit", "levit_128s", img_size=64),
    from_timm("mixer", timm.models.MlpMixer, img_size=64, embed_dim=48, num_blocks=2),
    from_timm("mobilevit", "mobilevit_xxs"),
    from_timm("nfnet", "nf_resnet26"),
    from_timm("pit", "pit_ti_224", img_size=64),
    from_timm("poolformer", "poolformer_s12"),
    from_timm("pvt_v2", "pvt_v2_b0"),
    from_timm("repvgg", "repvgg_a0"),
    from_timm("sequencer2d", "sequencer2d_s", img_size=64, layers=(1, 1, 1, 1), embed_dims=(24, 48, 48, 48),
              hidden_sizes=(6, 12, 12, 12)),
    from_timm("xcit", "xcit_nano_12_p16_224", depth=2, img_size=64),
]


class Sample(nn.Module):
    """The tensor of a result of diffusers."""

    def __init__(self, make, call="forward"):
        super().__init__()
        self.model, self.call = make(), call

    def forward(self, sample, *more):
        return getattr(self.model, self.call)(sample, *more, return_dict=False)[0]


class Denoise(Sample):

    def forward(self, sample, timestep, states):
        return self.model(sample, timestep, states, return_dict=False)[0]


class Encode(Sample):
    """The mean and the logarithm of the variance of latents."""

    def forward(self, sample):
        return self.model.encode(sample, return_dict=False)[0].parameters


class Decode(Sample):

    def forward(self, sample):
        return self.model.decode(sample, return_dict=False)[0]


def unet():
    from diffusers import UNet2DConditionModel
    return UNet2DConditionModel(block_out_channels=(16, 32), layers_per_block=1, cross_attention_dim=24,
                                attention_head_dim=8, norm_num_groups=8,
                                down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
                                up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"))


def unet_xl():
    from diffusers import UNet2DConditionModel
    return UNet2DConditionModel(block_out_channels=(16, 32), layers_per_block=2, cross_attention_dim=24,
                                attention_head_dim=(2, 4), norm_num_groups=8, use_linear_projection=True,
                                transformer_layers_per_block=(1, 2),
                                down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
                                up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"))


def vae():
    from diffusers import AutoencoderKL
    return AutoencoderKL(block_out_channels=(16, 32), layers_per_block=1, norm_num_groups=8,
                         down_block_types=("DownEncoderBlock2D", ) * 2,
                         up_block_types=("UpDecoderBlock2D", ) * 2)


def dit():
    from diffusers import SD3Transformer2DModel
    return SD3Transformer2DModel(sample_size=16, num_layers=2, attention_head_dim=8, num_attention_heads=4,
                                 joint_attention_dim=24, caption_projection_dim=32, pooled_projection_dim=16,
                                 pos_embed_max_size=32)


class Flow(Sample):

    def forward(self, sample, states, pooled, timestep):
        return self.model(sample, states, pooled, timestep, return_dict=False)[0]


def latents(batch, height, width, channels=4):
    return {"sample": torch.randn(batch, channels, height, width)}


def denoised(batch, height, width, words):
    return latents(batch, height,
                   width) | {"timestep": torch.tensor([7]), "states": torch.randn(batch, words, 24)}


def flowing(batch, height, width, words):
    return latents(batch, height, width, 16) | {
        "states": torch.randn(batch, words, 24), "pooled": torch.randn(batch, 16), "timestep": torch.full(
            (batch, ), 7.0)
    }


def sized(*rows):
    return tuple(dict(zip(("batch", "height", "width", "words"), row)) for row in rows)


LATENT = {"sample": {0: "batch", 2: "height", 3: "width"}}
UNET = LATENT | {"states": {0: "batch", 1: "words"}}
DENOISED = sized((1, 16, 16, 7), (2, 16, 24, 9), (3, 32, 8, 13))
PLAIN = tuple({k: v for k, v in row.items() if k != "words"} for row in DENOISED)

DIFFUSION = [
    Model("sd_unet", "diffusers", partial(Denoise, unet), denoised, UNET, DENOISED),
    Model("sdxl_unet", "diffusers", partial(Denoise, unet_xl), denoised, UNET, DENOISED),
    Model("vae_encoder", "diffusers", partial(Encode, vae), partial(latents, channels=3), LATENT, PLAIN),
    Model("vae_decoder", "diffusers", partial(Decode, vae), latents, LATENT, PLAIN),
    Model("sd3_transformer", "diffusers", partial(Flow, dit), flowing,
          UNET | {"pooled": {0: "batch"}, "timestep": {0: "batch"}}, DENOISED),
]


class Recurrent(nn.Module):
    """Words, layers that remember, a head; the last states go in and come out."""

    def __init__(self, layer, **more):
        super().__init__()
        self.embed, self.layer = nn.Embedding(50, 16), layer(16, 24, 2, batch_first=True, **more)
        self.head = nn.Linear(24 * (1 + self.layer.bidirectional), 10)

    def forward(self, words, states):
        hidden, states = self.layer(self.embed(words), states if len(states) > 1 else states[0])
        return (self.head(hidden), *(states if isinstance(states, tuple) else (states, )))


def remembered(batch, sequence, states=1, directions=1):
    return {
        "words": torch.randint(0, 50, (batch, sequence)),
        "states": tuple(torch.randn(2 * directions, batch, 24) for _ in range(states))
    }


WORDS = tuple(dict(batch=b, sequence=s) for b, s in ((1, 9), (2, 12), (3, 31)))


def recurrent(name, layer, states, **more):
    return Model(name, "recurrent", partial(Recurrent, layer, **more),
                 partial(remembered, states=states, directions=2 if more else 1),
                 {"words": {0: "batch", 1: "sequence"}, "states": {1: "batch"}}, WORDS)


RECURRENT = [
    recurrent("gru", nn.GRU, 1),
    recurrent("gru_bidirectional", nn.GRU, 1, bidirectional=True),
    recurrent("lstm", nn.LSTM, 2),
    recurrent("lstm_bidirectional", nn.LSTM, 2, bidirectional=True),
    recurrent("rnn", nn.RNN, 1),
]

MODELS = TIMM + DIFFUSION + RECURRENT
