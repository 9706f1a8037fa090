"""Encoder with decoder, speech, vision with text, detection and masks (transformers)."""
from functools import partial

import torch
import transformers as hf
from torch import nn

from .model import Model
from .text import AXES, WORDS, masked, padded, words


class Call(nn.Module):
    """A model that is called with named arguments; what comes out are the attributes `outputs` of its result."""

    def __init__(self, make, names, outputs, **fixed):
        super().__init__()
        self.model, self.names, self.outputs, self.fixed = make(), names, outputs, fixed

    def call(self, *values):
        made = self.model(**dict(zip(self.names, values)), **self.fixed)
        return tuple(getattr(made, name) for name in self.outputs)


class One(Call):

    def forward(self, first):
        return self.call(first)


class Two(Call):

    def forward(self, first, second):
        return self.call(first, second)


class Three(Call):

    def forward(self, first, second, third):
        return self.call(first, second, third)


def rows_of(*sizes, names=("batch", "sequence")):
    return tuple(dict(zip(names, size)) for size in sizes)


def translated(batch, sequence, target):
    return masked(batch, sequence) | words(batch, target, "decoder_input_ids")


TRANSLATION = {"input_ids": AXES, "attention_mask": AXES, "decoder_input_ids": {0: "batch", 1: "target"}}
TRANSLATED = rows_of((1, 8, 5), (2, 12, 7), (3, 21, 9), names=("batch", "sequence", "target"))
SEQ2SEQ = dict(vocab_size=WORDS, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
               decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=64,
               pad_token_id=0, bos_token_id=1, eos_token_id=1, decoder_start_token_id=1)


def t5(**more):
    return hf.T5ForConditionalGeneration(
        hf.T5Config(vocab_size=WORDS, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4,
                    decoder_start_token_id=0, **more))


def bart():
    return hf.BartForConditionalGeneration(hf.BartConfig(**SEQ2SEQ))


def marian():
    return hf.MarianMTModel(hf.MarianConfig(decoder_vocab_size=WORDS, **SEQ2SEQ))


def seq2seq(name, make):
    names = ("input_ids", "attention_mask", "decoder_input_ids")
    return Model(name, "transformers seq2seq", partial(Three, make, names, ["logits"], use_cache=False),
                 translated, TRANSLATION, TRANSLATED)


class Step(nn.Module):
    """One step of a decoder over what an encoder made, with keys and values of both attentions of every layer."""

    def __init__(self, make):
        super().__init__()
        self.model = make()

    def forward(self, decoder_input_ids, encoder_states, past):
        caches = [
            hf.DynamicCache([(past[i], past[i + 1]) for i in range(first, len(past), 4)]) for first in (0, 2)
        ]
        made = self.model(decoder_input_ids=decoder_input_ids, encoder_outputs=(encoder_states, ),
                          use_cache=True, past_key_values=hf.EncoderDecoderCache(*caches))
        layers = made.past_key_values.self_attention_cache.layers
        return (made.logits, *(x for layer in layers for x in (layer.keys, layer.values)))


def step(batch, sequence, past, heads=4, width=8, layers=2):
    pairs = [torch.randn(batch, heads, n, width) for n in (past, past, sequence, sequence)]
    return words(batch, 1, "decoder_input_ids") | {
        "encoder_states": torch.randn(batch, sequence, 32), "past": tuple(
            torch.randn_like(p) for _ in range(layers) for p in pairs)
    }


def step_of(name, make):
    own, crossed = {0: "batch", 2: "past_sequence"}, {0: "batch", 2: "sequence"}
    return Model(name + "-past", "transformers seq2seq", partial(Step, make), step,
                 {"decoder_input_ids": {0: "batch"}, "encoder_states": AXES, "past": (own, own, crossed, crossed)}, STEPS)


STEPS = rows_of((1, 8, 5), (2, 12, 7), (3, 21, 9), names=("batch", "sequence", "past"))


def whisper():
    return hf.WhisperForConditionalGeneration(
        hf.WhisperConfig(**(SEQ2SEQ | dict(num_mel_bins=16, max_source_positions=50, max_target_positions=32,
                                           suppress_tokens=None, begin_suppress_tokens=None))))


def spoken(batch, target):
    return {"input_features": torch.randn(batch, 16, 100)} | words(
        batch, target, "decoder_input_ids") | {"decoder_attention_mask": padded(batch, target)}


def wave(batch, samples):
    return {"input_values": torch.randn(batch, samples)}


def speech(config, model):
    return model(
        config(vocab_size=WORDS, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
               intermediate_size=48, conv_dim=(16, 16, 16), conv_stride=(5, 4, 2), conv_kernel=(10, 8, 4),
               num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4))


TARGET = {0: "batch", 1: "target"}
WAVES = rows_of((1, 1600), (2, 2000), (3, 3217), names=("batch", "samples"))
WAVE = {"input_values": {0: "batch", 1: "samples"}}


def pixels(batch, height=32, width=32):
    return {"pixel_values": torch.randn(batch, 3, height, width)}


VIT = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, image_size=32,
           patch_size=8)
PICTURES = rows_of((1, ), (2, ), (5, ))
BATCH = {"pixel_values": {0: "batch"}}


def picture(name, make, outputs, sizes=PICTURES, dynamic=BATCH, inputs=pixels, family="transformers vision",
            **fixed):
    return Model(name, family, partial(One, make, ["pixel_values"], outputs, **fixed), inputs, dynamic, sizes)


def paired(batch, sequence):
    return masked(batch, sequence) | pixels(batch)


TEXT = dict(vocab_size=WORDS, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
            intermediate_size=48, max_position_embeddings=32, bos_token_id=0, eos_token_id=1, pad_token_id=0)
PAIRED = rows_of((2, 8), (3, 12), (4, 21))


def clip():
    return hf.CLIPModel(hf.CLIPConfig(text_config=TEXT, vision_config=VIT, projection_dim=16))


def siglip():
    return hf.SiglipModel(hf.SiglipConfig(text_config=TEXT, vision_config=VIT))


def pair(name, make):
    return Model(
        name, "transformers vision",
        partial(Three, make, ("input_ids", "attention_mask", "pixel_values"),
                ["logits_per_image", "text_embeds", "image_embeds"]), paired,
        {"input_ids": AXES, "attention_mask": AXES} | BATCH, PAIRED)


def segformer():
    return hf.SegformerForSemanticSegmentation(
        hf.SegformerConfig(hidden_sizes=[8, 16, 24, 32], num_attention_heads=[1, 2, 2, 4],
                           depths=[1, 1, 1, 1], decoder_hidden_size=16))


def detr():
    backbone = hf.ResNetConfig(embedding_size=16, hidden_sizes=[16, 32, 48, 64], depths=[1, 1, 1, 1],
                               out_features=["stage4"])
    return hf.DetrForObjectDetection(
        hf.DetrConfig(
            use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, backbone_config=backbone,
            num_queries=10, **{
                k: v for k, v in SEQ2SEQ.items()
                if k in ("d_model", "encoder_layers", "decoder_layers", "encoder_attention_heads",
                         "decoder_attention_heads", "encoder_ffn_dim", "decoder_ffn_dim")
            }))


def yolos():
    return hf.YolosForObjectDetection(
        hf.YolosConfig(**(VIT | dict(image_size=[32, 48], num_detection_tokens=5))))


def sam():
    vision = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, mlp_dim=48, image_size=64,
                  patch_size=8, output_channels=16, window_size=4, global_attn_indexes=[1], num_pos_feats=8)
    prompt = dict(hidden_size=16, image_size=64, patch_size=8, mask_input_channels=8)
    mask = dict(hidden_size=16, mlp_dim=24, num_attention_heads=4, iou_head_hidden_dim=16)
    return hf.SamModel(
        hf.SamConfig(vision_config=vision, prompt_encoder_config=prompt, mask_decoder_config=mask))


def prompted(batch, points):
    return pixels(batch, 64, 64) | {"input_points": torch.rand(batch, 1, points, 2) * 64}


def dpt():
    return hf.DPTForDepthEstimation(
        hf.DPTConfig(**(VIT | dict(num_hidden_layers=4)), backbone_out_indices=[0, 1, 2, 3],
                     neck_hidden_sizes=[8, 16, 24, 32], fusion_hidden_size=16))


def dinov2():
    return hf.Dinov2Model(hf.Dinov2Config(**VIT))


def swin2sr():
    return hf.Swin2SRForImageSuperResolution(
        hf.Swin2SRConfig(image_size=16, patch_size=1, embed_dim=16, depths=[2, 2], num_heads=[2, 2],
                         window_size=4, upscale=2))


SQUARE = {"pixel_values": {0: "batch", 2: "height", 3: "width"}}
SQUARES = rows_of((1, 64, 64), (2, 96, 64), (3, 96, 160), names=("batch", "height", "width"))
MODELS = [
    seq2seq("t5", t5),
    step_of("t5", t5),
    seq2seq("bart", bart),
    step_of("bart", bart),
    seq2seq("marian", marian),
    Model(
        "whisper", "transformers speech",
        partial(Three, whisper, ("input_features", "decoder_input_ids", "decoder_attention_mask"),
                ["logits", "encoder_last_hidden_state"], use_cache=False), spoken,
        {"input_features": {0: "batch"}, "decoder_input_ids": TARGET, "decoder_attention_mask": TARGET},
        rows_of((1, 5), (2, 7), (3, 12), names=("batch", "target"))),
    step_of("whisper", whisper),
    Model("wav2vec2", "transformers speech",
          partial(One, partial(speech, hf.Wav2Vec2Config, hf.Wav2Vec2ForCTC), ["input_values"], ["logits"]),
          wave, WAVE, WAVES),
    Model("hubert", "transformers speech",
          partial(One, partial(speech, hf.HubertConfig, hf.HubertForCTC), ["input_values"], ["logits"]), wave,
          WAVE, WAVES),
    pair("clip", clip),
    pair("siglip", siglip),
    picture("dinov2", dinov2, ["last_hidden_state"]),
    picture("dpt", dpt, ["predicted_depth"]),
    picture("segformer", segformer, ["logits"], SQUARES, SQUARE),
    picture("swin2sr", swin2sr, ["reconstruction"],
            rows_of((1, 16, 16), (2, 16, 24), (3, 20, 28), names=("batch", "height", "width")), SQUARE),
    picture("detr", detr, ["logits", "pred_boxes"], SQUARES, SQUARE, family="transformers detection"),
    picture("yolos", yolos, ["logits", "pred_boxes"], inputs=partial(pixels, width=48),
            family="transformers detection"),
    Model("sam", "transformers detection",
          partial(Two, sam, ("pixel_values", "input_points"), ["iou_scores", "pred_masks"]), prompted,
          BATCH | {"input_points": {0: "batch", 2: "points"}},
          rows_of((1, 2), (2, 3), (3, 5), names=("batch", "points"))),
]
