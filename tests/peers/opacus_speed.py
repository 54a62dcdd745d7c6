"""Times one DP critic step in PyTorch, beside `benches/critic_step.rs`.

MLP 64-256-256-1, leaky ReLU, Wasserstein loss, batch 256, one thread: forward, backward, and
- plain: the batch gradient (no privacy),
- opacus: per-example gradients by hooks, their norms, clip, sum.

    pip install torch opacus
    python tests/peers/opacus_speed.py
    RAYON_NUM_THREADS=1 cargo bench --bench critic_step

Prints milliseconds a step, the median of many.
"""
import json
import statistics
import time

import torch
from opacus import GradSampleModule
from torch import nn

BATCH, INPUT, CLIP = 256, 64, 0.5


def critic():
    return nn.Sequential(
        nn.Linear(INPUT, 256), nn.LeakyReLU(0.2), nn.Linear(256, 256), nn.LeakyReLU(0.2), nn.Linear(256, 1)
    )


def plain_step(model, rows):
    model.zero_grad(set_to_none=True)
    (-model(rows)).sum().backward()
    return [parameter.grad for parameter in model.parameters()]


def private_step(model, rows):
    model.zero_grad(set_to_none=True)
    (-model(rows)).sum().backward()
    samples = [parameter.grad_sample for parameter in model.parameters()]
    squares = sum(sample.flatten(1).square().sum(1) for sample in samples)
    factors = (CLIP / squares.sqrt().clamp_min(CLIP)).clamp(max=1.0)
    sums = [torch.einsum("b,b...->...", factors, sample) for sample in samples]
    for parameter in model.parameters():
        parameter.grad_sample = None
    return sums


def milliseconds(step, model, rows):
    for _ in range(5):
        step(model, rows)
    times = []
    for _ in range(60):
        started = time.perf_counter()
        step(model, rows)
        times.append(1000 * (time.perf_counter() - started))
    return statistics.median(times)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rows = torch.rand(BATCH, INPUT)
    print(json.dumps({
        "torch": torch.__version__,
        "plain_ms": milliseconds(plain_step, critic(), rows),
        "opacus_ms": milliseconds(private_step, GradSampleModule(critic(), loss_reduction="sum"), rows),
    }))


main()
