"""Times one whole critic step in PyTorch, beside `benches/critic_step.rs`.

MLP 64-256-256-1, leaky ReLU, Wasserstein loss, batch 256, one thread: forward, backward and Adam, and
- plain: no privacy,
- opacus: per-example gradients, clip, sum and noise by Opacus' own optimizer.

    pip install torch opacus
    python tests/peers/opacus_speed.py
    RAYON_NUM_THREADS=1 cargo bench --bench critic_step

Prints milliseconds a step, the median of many.
"""
import json
import statistics
import time
import warnings

import opacus
import torch
from opacus import GradSampleModule
from opacus.optimizers import DPOptimizer
from torch import nn

BATCH, INPUT, CLIP, NOISE_MULTIPLIER = 256, 64, 0.5, 1.0


def critic():
    return nn.Sequential(
        nn.Linear(INPUT, 256), nn.LeakyReLU(0.2), nn.Linear(256, 256), nn.LeakyReLU(0.2), nn.Linear(256, 1)
    )


def adam(model):
    return torch.optim.Adam(model.parameters(), lr=2e-4, betas=(0.5, 0.999))


def plain():
    model = critic()
    return model, adam(model)


def private():
    model = GradSampleModule(critic(), loss_reduction="mean")
    optimizer = DPOptimizer(
        adam(model), noise_multiplier=NOISE_MULTIPLIER, max_grad_norm=CLIP, expected_batch_size=BATCH
    )
    return model, optimizer


def milliseconds(model, optimizer, rows):
    def step():
        optimizer.zero_grad()
        (-model(rows)).mean().backward()
        optimizer.step()

    for _ in range(5):
        step()
    times = []
    for _ in range(60):
        started = time.perf_counter()
        step()
        times.append(1000 * (time.perf_counter() - started))
    return statistics.median(times)


def main():
    warnings.filterwarnings("ignore", message="Full backward hook")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rows = torch.rand(BATCH, INPUT)
    print(json.dumps({
        "torch": torch.__version__,
        "opacus": opacus.__version__,
        "plain_ms": milliseconds(*plain(), rows),
        "opacus_ms": milliseconds(*private(), rows),
    }))


main()
