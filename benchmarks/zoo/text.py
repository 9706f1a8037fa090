"""Encoders of text, and decoders with and without past keys and values (transformers)."""
from functools import partial

import torch
from torch import nn
import transformers as hf

from .model import Model

WORDS = 100
SMALL = dict(vocab_size=WORDS, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
             intermediate_size=48)
SIZES = tuple(dict(batch=b, sequence=s) for b, s in ((1, 8), (2, 12), (3, 29)))
AXES = {0: "batch", 1: "sequence"}


def words(batch, sequence, name="input_ids"):
    return {name: torch.randint(2, WORDS, (batch, sequence))}


def padded(batch, sequence):
    """1 where a word stands; every row but the first is one word shorter than the one before."""
    length = sequence - torch.arange(batch).clamp(max=sequence - 1)
    return (torch.arange(sequence) < length[:, None]).long()


def masked(batch, sequence):
    return words(batch, sequence) | {"attention_mask": padded(batch, sequence)}


class Encoder(nn.Module):

    def __init__(self, config, make=None):
        super().__init__()
        self.model = (make or hf.AutoModel.from_config)(config)

    def forward(self, input_ids, attention_mask):
        return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state


def encoder(name, config, **more):
    config = partial(config, **(SMALL | dict(max_position_embeddings=64) | more))
    return Model(name, "transformers encoder", lambda: Encoder(config()), masked,
                 {"input_ids": AXES, "attention_mask": AXES}, SIZES)


ENCODERS = [
    encoder("albert", hf.AlbertConfig, embedding_size=16),
    encoder("bert", hf.BertConfig),
    encoder("deberta_v2", hf.DebertaV2Config, relative_attention=True, pos_att_type=["p2c", "c2p"],
            position_buckets=16),
    encoder("distilbert", hf.DistilBertConfig, dim=32, n_layers=2, n_heads=4, hidden_dim=48),
    encoder("electra", hf.ElectraConfig, embedding_size=16),
    encoder("modernbert", hf.ModernBertConfig, local_attention=8, pad_token_id=0, bos_token_id=1,
            eos_token_id=1, cls_token_id=1, sep_token_id=1),
    encoder("mpnet", hf.MPNetConfig),
    encoder("roberta", hf.RobertaConfig),
]


class Decoder(nn.Module):
    """Logits of words; with a past also the new keys and values, layer by layer."""

    def __init__(self, config):
        super().__init__()
        self.model = hf.AutoModelForCausalLM.from_config(config())
        if hasattr(self.model.config, "num_experts_per_tok"):
            self.model.set_experts_implementation("batched_mm")     # grouped products have no ONNX

    def forward(self, input_ids, attention_mask, past=None):
        cache = None if past is None else hf.DynamicCache([(past[i], past[i + 1])
                                                           for i in range(0, len(past), 2)])
        made = self.model(input_ids=input_ids, attention_mask=attention_mask, past_key_values=cache,
                          use_cache=past is not None)
        if past is None:
            return made.logits
        present = made.past_key_values
        return (made.logits, *(x for layer in present.layers for x in (layer.keys, layer.values)))


def stepped(batch, sequence, past, heads=4, width=8, layers=2):
    return words(batch, sequence) | {
        "attention_mask": torch.ones(batch, past + sequence, dtype=torch.long), "past": tuple(
            torch.randn(batch, heads, past, width) for _ in range(2 * layers))
    }


def decoder(name, config, heads=4, width=8, **more):
    """Two rows: without and with past."""
    config = partial(
        config,
        **(SMALL | dict(max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=1) | more))
    yield Model(name, "transformers decoder", partial(Decoder, config), masked,
                {"input_ids": AXES, "attention_mask": AXES}, SIZES)
    sizes = tuple(dict(batch=b, sequence=s, past=p) for b, s, p in ((1, 1, 8), (2, 3, 5), (3, 2, 21)))
    yield Model(name + "-past", "transformers decoder", partial(Decoder, config),
                partial(stepped, heads=heads, width=width), {
                    "input_ids": AXES, "attention_mask": {0: "batch", 1: "total"},
                    "past": {0: "batch", 2: "past_sequence"}
                }, sizes)


GROUPED = dict(num_key_value_heads=2)
DECODERS = [
    *decoder("bloom", hf.BloomConfig, n_layer=2, n_head=4),
    *decoder("falcon", hf.FalconConfig, heads=1, alibi=False),
    *decoder("gemma2", hf.Gemma2Config, heads=2, head_dim=8, sliding_window=8, **GROUPED),
    *decoder("gemma3", hf.Gemma3TextConfig, heads=2, head_dim=8, sliding_window=8, **GROUPED),
    *decoder("gpt2", hf.GPT2Config, n_embd=32, n_layer=2, n_head=4, n_positions=64),
    *decoder("gpt_neox", hf.GPTNeoXConfig),
    *decoder("gptj", hf.GPTJConfig, n_embd=32, n_layer=2, n_head=4, n_positions=64, rotary_dim=4),
    *decoder("granite_moe", hf.GraniteMoeConfig, heads=2, num_local_experts=4, num_experts_per_tok=2, **
             GROUPED),
    *decoder("llama", hf.LlamaConfig, heads=2, **GROUPED),
    *decoder("mistral", hf.MistralConfig, heads=2, sliding_window=16, head_dim=8, **GROUPED),
    *decoder("mixtral", hf.MixtralConfig, heads=2, num_local_experts=4, head_dim=8, **GROUPED),
    *decoder("olmo2", hf.Olmo2Config, heads=2, **GROUPED),
    *decoder("opt", hf.OPTConfig, ffn_dim=48, word_embed_proj_dim=32),
    *decoder("phi", hf.PhiConfig),
    *decoder("phi3", hf.Phi3Config, heads=2, **GROUPED),
    *decoder("qwen2", hf.Qwen2Config, heads=2, **GROUPED),
    *decoder("qwen3", hf.Qwen3Config, heads=2, head_dim=8, **GROUPED),
    *decoder("qwen3_moe", hf.Qwen3MoeConfig, heads=2, head_dim=8, num_experts=4, num_experts_per_tok=2,
             moe_intermediate_size=24, **GROUPED),
]

MODELS = ENCODERS + DECODERS
