"""Trains the extractor of features that ships with the program, and says how good it is.

    python tests/peers/train_extractor.py ../shared/data/images assets/extractor/digits-and-clothes.safetensors

The network is `model::image::Classifier` with the shape of `evaluate::image::EXTRACTOR_SHAPE`; the file holds its
tensors in that layout: windows row by row with channels last, maps row by row with channels last.
"""

import gzip
import json
import struct
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

SETS = ["mnist", "fashion-mnist"]
PASSES = 2
BATCH = 100


def load(folder, part):
    images, labels = [], []
    for index, name in enumerate(SETS):
        with gzip.open(f"{folder}/{name}/{part}-images-idx3-ubyte.gz") as file:
            images.append(np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 1, 28, 28))
        with gzip.open(f"{folder}/{name}/{part}-labels-idx1-ubyte.gz") as file:
            labels.append(np.frombuffer(file.read(), np.uint8, offset=8).astype(np.int64) + 10 * index)
    return torch.from_numpy(np.concatenate(images)), torch.from_numpy(np.concatenate(labels))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.c0 = torch.nn.Conv2d(1, 16, 3, padding=1)
        self.c1 = torch.nn.Conv2d(16, 32, 3, padding=1)
        self.d0 = torch.nn.Linear(32 * 49, 128)
        self.d1 = torch.nn.Linear(128, 20)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.c0(x), 2))
        x = F.relu(F.max_pool2d(self.c1(x), 2))
        return self.d1(F.relu(self.d0(x.flatten(1))))


def main(folder, target):
    torch.manual_seed(28)
    torch.set_num_threads(2)
    images, labels = load(folder, "train")
    net = Net()
    adam = torch.optim.Adam(net.parameters(), 2e-3)
    steps = PASSES * (len(images) // BATCH)
    step, start = 0, time.time()
    for _ in range(PASSES):
        for chosen in torch.randperm(len(images)).split(BATCH):
            for group in adam.param_groups:
                group["lr"] = 2e-3 * (1 - 0.9 * step / steps)
            loss = F.cross_entropy(net(images[chosen].float() / 255), labels[chosen])
            adam.zero_grad()
            loss.backward()
            adam.step()
            step += 1
            if step % 200 == 0:
                print(step, steps, round(time.time() - start), float(loss), flush=True)
    images, labels = load(folder, "t10k")
    with torch.no_grad():
        found = torch.cat([net(part.float() / 255).argmax(1) for part in images.split(1000)])
    hits = (found == labels).float()
    said = f"mnist: {hits[:10000].mean():.4f}, fashion-mnist: {hits[10000:].mean():.4f}"
    print("accuracy on the test parts:", said)
    kernel = lambda conv: conv.weight.permute(2, 3, 1, 0).reshape(-1, conv.weight.shape[0])
    first = net.d0.weight.reshape(128, 32, 49).permute(2, 1, 0).reshape(-1, 128)
    tensors = {
        "convolution.0.weight": kernel(net.c0),
        "convolution.0.bias": net.c0.bias[None],
        "convolution.1.weight": kernel(net.c1),
        "convolution.1.bias": net.c1.bias[None],
        "dense.0.weight": first,
        "dense.0.bias": net.d0.bias[None],
        "dense.1.weight": net.d1.weight.T,
        "dense.1.bias": net.d1.bias[None],
    }
    header, data = {"__metadata__": {"accuracy on the test parts": said}}, b""
    for name, tensor in tensors.items():
        part = tensor.detach().numpy().astype("<f4").tobytes()
        offsets = [len(data), len(data) + len(part)]
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": offsets}
        data += part
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(target, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


main(*sys.argv[1:])
