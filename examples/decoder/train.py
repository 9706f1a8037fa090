#!/usr/bin/env python3
"""Trains the decoder of this folder on the prose of docs/*.md, character by character, and writes decoder.safetensors.

Only for whoever wants to train again; the result is committed. Needs torch; about a quarter of an hour on one core:

    python3 -m venv venv && venv/bin/pip install torch && venv/bin/python examples/decoder/train.py

The last line is the loss, in bits for each character, on the last tenth of the text, which training never saw.
"""
import json
import math
import re
import struct
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy, relu, scaled_dot_product_attention

HERE = Path(__file__).resolve().parent
LENGTH, WIDTH, HEADS, LAYERS, HIDDEN, CHARACTERS = 192, 64, 4, 2, 256, 96  # decoder.svod has the same
STEPS, BATCH = 3000, 32


def prose():
    """Paragraphs and items of lists, each on a line, without tables, code and the addresses of links."""
    pages = []
    for page in sorted((HERE.parent.parent / "docs").glob("*.md")):
        text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
        lines = [line.strip() for line in re.split(r"\n(?=\s*[-\n|#<])", text)]
        lines = [re.sub(r"\s+", " ", line.removeprefix("- ")) for line in lines if line and line[0] not in "|#<"]
        pages += [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line).replace("**", "") for line in lines]
    return "".join(c for c in "\n".join(pages) if c == "\n" or " " <= c <= "~")


def encoded(text):
    """Characters from blank to ~ are 0 to 94, the end of a line is 95."""
    return torch.tensor([95 if c == "\n" else ord(c) - 32 for c in text])


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * self.scale


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        def matrix(*shape, scale=1.0):
            return nn.Parameter(torch.randn(*shape) * scale / math.sqrt(shape[-2]))
        self.table = nn.Parameter(torch.randn(CHARACTERS, WIDTH) * 0.1)
        self.place = nn.Parameter(torch.randn(LENGTH, WIDTH) * 0.05)
        self.q, self.k, self.v = (matrix(LAYERS, WIDTH, WIDTH) for _ in range(3))
        self.o, self.up, self.down = matrix(LAYERS, WIDTH, WIDTH, scale=0.5), matrix(LAYERS, WIDTH, HIDDEN), matrix(LAYERS, HIDDEN, WIDTH, scale=0.5)
        self.norms = nn.ModuleList(Norm() for _ in range(2 * LAYERS + 1))

    def forward(self, tokens):
        x = self.table[tokens] + self.place[:tokens.shape[1]]
        def heads(y):
            return y.unflatten(-1, (HEADS, -1)).transpose(1, 2)
        for layer in range(LAYERS):
            y = self.norms[2 * layer](x)
            mixed = scaled_dot_product_attention(heads(y @ self.q[layer]), heads(y @ self.k[layer]), heads(y @ self.v[layer]), is_causal=True)
            x = x + mixed.transpose(1, 2).flatten(2) @ self.o[layer]
            x = x + relu(self.norms[2 * layer + 1](x) @ self.up[layer]) @ self.down[layer]
        return self.norms[-1](x) @ self.table.T


def save(weights):
    """As f16, which the graph converts when it is compiled or run."""
    header, data = {}, b""
    for name, value in weights.items():
        bytes_ = value.detach().to(torch.float16).numpy().tobytes()
        header[name] = {"dtype": "F16", "shape": list(value.shape), "data_offsets": [len(data), len(data) + len(bytes_)]}
        data += bytes_
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (HERE / "decoder.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)


def main():
    torch.manual_seed(7)
    torch.set_num_threads(1)
    tokens = encoded(prose())
    train, kept = tokens[:len(tokens) * 9 // 10], tokens[len(tokens) * 9 // 10:]
    model = Decoder()
    best = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.98), weight_decay=0.05)
    rate = torch.optim.lr_scheduler.LambdaLR(best, lambda s: min(1, (s + 1) / 100) * (0.03 + 0.97 * (1 + math.cos(math.pi * s / STEPS)) / 2))

    def loss_of(text, count):
        at = torch.randint(len(text) - LENGTH - 1, (count,))
        rows = torch.stack([text[i:i + LENGTH + 1] for i in at])
        return cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())

    for step in range(STEPS):
        loss = loss_of(train, BATCH)
        best.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        best.step()
        rate.step()
        if step % 100 == 0:
            print(step, f"{loss.item() / math.log(2):.3f}", flush=True)
            save(named(model))
    save(named(model))
    with torch.no_grad():
        print(f"{loss_of(kept, 256).item() / math.log(2):.3f} bits for each character")


def named(model):
    weights = {"table": model.table, "place": model.place, "norm": model.norms[-1].scale}
    for layer in range(LAYERS):
        for name in ("q", "k", "v", "o", "up", "down"):
            weights[f"{name}{layer}"] = getattr(model, name)[layer]
        weights[f"norm{layer}a"], weights[f"norm{layer}b"] = (model.norms[2 * layer + i].scale for i in (0, 1))
    return weights


if __name__ == "__main__":
    main()
