#!/usr/bin/env python3
"""Trains the digits network and writes what the example needs: digits.safetensors, samples.npy, labels.txt.

Only for whoever wants to train again; the results are committed. Needs numpy and scikit-learn (for its bundled
1797 images of 8x8 pixels):

    python3 -m venv venv && venv/bin/pip install numpy scikit-learn && venv/bin/python examples/digits/train.py

The last line is the accuracy on 360 images that training never saw.
"""
import json
import struct
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

HERE = Path(__file__).resolve().parent
rng = np.random.default_rng(7)


def columns(x):
    """3x3 neighbourhoods of a padded image: [n, c, h, w] -> [n, h, w, c*9]."""
    n, c, h, w = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    parts = [padded[:, :, i:i + h, j:j + w] for i in range(3) for j in range(3)]
    return np.stack(parts, axis=2).reshape(n, c * 9, h, w).transpose(0, 2, 3, 1)


def fold(columns_, c):
    """The transpose of columns(): adds every neighbourhood back into its image."""
    n, h, w, _ = columns_.shape
    parts = columns_.transpose(0, 3, 1, 2).reshape(n, c, 9, h, w)
    padded = np.zeros((n, c, h + 2, w + 2), np.float32)
    for k in range(9):
        padded[:, :, k // 3:k // 3 + h, k % 3:k % 3 + w] += parts[:, :, k]
    return padded[:, :, 1:-1, 1:-1]


def start(*shape, fan_in):
    return (rng.standard_normal(shape) * np.sqrt(2.0 / fan_in)).astype(np.float32)


weights = {
    "conv1.w": start(8, 1, 3, 3, fan_in=9), "conv1.b": np.zeros(8, np.float32),
    "conv2.w": start(16, 8, 3, 3, fan_in=72), "conv2.b": np.zeros(16, np.float32),
    "dense1.w": start(32, 256, fan_in=256), "dense1.b": np.zeros(32, np.float32),
    "dense2.w": start(10, 32, fan_in=32), "dense2.b": np.zeros(10, np.float32),
}


def conv(x, name):
    w = weights[name + ".w"]
    cols = columns(x)
    return cols, (cols @ w.reshape(len(w), -1).T + weights[name + ".b"]).transpose(0, 3, 1, 2)


def conv_gradients(cols, grad, name, gradients):
    w = weights[name + ".w"]
    flat = grad.transpose(0, 2, 3, 1)
    gradients[name + ".w"] = np.tensordot(flat, cols, ((0, 1, 2), (0, 1, 2))).reshape(w.shape)
    gradients[name + ".b"] = flat.sum((0, 1, 2))
    return fold(flat @ w.reshape(len(w), -1), w.shape[1])


def forward(x):
    cols1, a1 = conv(x, "conv1")
    r1 = np.maximum(a1, 0)
    cols2, a2 = conv(r1, "conv2")
    r2 = np.maximum(a2, 0)
    n, c, h, w = r2.shape
    windows = r2.reshape(n, c, h // 2, 2, w // 2, 2)
    pooled = windows.max((3, 5))
    flat = pooled.reshape(n, -1)
    a3 = flat @ weights["dense1.w"].T + weights["dense1.b"]
    r3 = np.maximum(a3, 0)
    logits = r3 @ weights["dense2.w"].T + weights["dense2.b"]
    return logits, (cols1, a1, cols2, a2, windows, pooled, flat, a3, r3)


def backward(logits, labels, saved):
    cols1, a1, cols2, a2, windows, pooled, flat, a3, r3 = saved
    e = np.exp(logits - logits.max(1, keepdims=True))
    grad = e / e.sum(1, keepdims=True)
    grad[np.arange(len(labels)), labels] -= 1
    grad /= len(labels)
    gradients = {"dense2.w": grad.T @ r3, "dense2.b": grad.sum(0)}
    grad = (grad @ weights["dense2.w"]) * (a3 > 0)
    gradients |= {"dense1.w": grad.T @ flat, "dense1.b": grad.sum(0)}
    grad = (grad @ weights["dense1.w"]).reshape(pooled.shape)
    winners = windows == pooled[:, :, :, None, :, None]
    grad = (winners * grad[:, :, :, None, :, None]).reshape(a2.shape) * (a2 > 0)
    grad = conv_gradients(cols2, grad, "conv2", gradients) * (a1 > 0)
    conv_gradients(cols1, grad, "conv1", gradients)
    return gradients


def shifted(x):
    """Every image moved by up to one pixel, so the network does not learn positions by heart."""
    out = np.zeros_like(x)
    for i, (dy, dx) in enumerate(rng.integers(-1, 2, (len(x), 2))):
        out[i] = np.roll(x[i], (dy, dx), (1, 2))
    return out


def accuracy(x, labels):
    return float((forward(x)[0].argmax(1) == labels).mean())


def train(x, labels, epochs=120, batch=64):
    m = {k: np.zeros_like(v) for k, v in weights.items()}
    v = {k: np.zeros_like(w) for k, w in weights.items()}
    step = 0
    for epoch in range(epochs):
        rate = 2e-3 * 0.5 * (1 + np.cos(np.pi * epoch / epochs))
        order = rng.permutation(len(x))
        for at in range(0, len(x), batch):
            pick = order[at:at + batch]
            logits, saved = forward(shifted(x[pick]))
            step += 1
            for k, g in backward(logits, labels[pick], saved).items():
                m[k] = 0.9 * m[k] + 0.1 * g
                v[k] = 0.999 * v[k] + 0.001 * g * g
                weights[k] -= rate * (m[k] / (1 - 0.9**step)) / (np.sqrt(v[k] / (1 - 0.999**step)) + 1e-8)
                weights[k] = weights[k].astype(np.float32)


def write_safetensors(path):
    header, offset = {}, 0
    for name, w in weights.items():
        header[name] = {"dtype": "F32", "shape": list(w.shape), "data_offsets": [offset, offset + w.nbytes]}
        offset += w.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 64)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(w.tobytes() for w in weights.values()))


def main():
    digits = load_digits()
    images = (digits.images / 16).astype(np.float32)[:, None]
    order = np.random.default_rng(0).permutation(len(images))
    unseen, seen = order[:360], order[360:]
    train(images[seen], digits.target[seen])
    write_safetensors(HERE / "digits.safetensors")
    np.save(HERE / "samples.npy", images[unseen])
    (HERE / "labels.txt").write_text("".join(f"{label}\n" for label in digits.target[unseen]))
    print(f"accuracy: {accuracy(images[seen], digits.target[seen]):.4f} on {len(seen)} images it was trained with")
    print(f"accuracy: {accuracy(images[unseen], digits.target[unseen]):.4f} on {len(unseen)} images it never saw")


if __name__ == "__main__":
    main()
