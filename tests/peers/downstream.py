"""Downstream accuracy by PyTorch: a small CNN trained on synthetic images, tested on real ones.

Beside the accuracy that `pointillist evaluate` tells: convolutions of 32 and 64 channels, each with a pool, 128 features,
3 epochs of Adam at 1e-3, batches of 100, one thread.

    pip install torch numpy
    python tests/peers/downstream.py SYNTHETIC-images-idx3-ubyte REAL-images-idx3-ubyte.gz

Labels lie beside the images, as MNIST is published. Prints the accuracy on the real ones.
"""
import gzip
import sys

import numpy as np
import torch
from torch import nn


def idx(path):
    """The array of an IDX file of bytes."""
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rb") as file:
        data = file.read()
    sizes = [int.from_bytes(data[4 + 4 * i:8 + 4 * i], "big") for i in range(data[3])]
    return np.frombuffer(data, np.uint8, offset=4 + 4 * len(sizes)).reshape(sizes)


def pair(path):
    """Images in [0, 1] and their labels."""
    images = torch.tensor(idx(path).astype("f4") / 255)[:, None]
    labels = idx(path.replace("-images-idx3-", "-labels-idx1-"))
    return images, torch.tensor(labels.astype("i8"))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    images, labels = pair(sys.argv[1])
    real, truth = pair(sys.argv[2])
    model = nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 49, 128), nn.ReLU(), nn.Linear(128, 10),
    )
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    for _ in range(3):
        for batch in torch.randperm(len(images)).split(100):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images[batch]), labels[batch]).backward()
            optimizer.step()
    with torch.no_grad():
        right = sum((model(x).argmax(1) == y).sum().item() for x, y in zip(real.split(1000), truth.split(1000)))
    print(right / len(truth))


main()
