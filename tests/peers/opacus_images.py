"""Times one whole step of a critic of images in PyTorch, beside `benches/image_critic.rs`.

28 x 28 grey, convolutions 1-32-64 (4 x 4, stride 2, padding 1), one score, leaky ReLU, cross-entropy, batch 128, one
thread: forward, backward and Adam, and
- plain: no privacy,
- opacus: per-example gradients, clip, sum and noise by Opacus' own optimizer,
- ghost: Opacus' ghost clipping, which holds no gradient of a single example.

    pip install torch opacus
    python tests/peers/opacus_images.py plain|opacus|ghost
    RAYON_NUM_THREADS=1 cargo bench --bench image_critic

Prints milliseconds a step, the median of many, and the most memory beyond what the process had before, in MiB. Each
kind is a process of its own, since a process does not forget its peak.
"""
import json
import resource
import statistics
import sys
import time
import warnings

import opacus
import torch
from opacus import GradSampleModule
from opacus.optimizers import DPOptimizer
from torch import nn

BATCH, CLIP, NOISE_MULTIPLIER = 128, 1.0, 1.0


def critic():
    return nn.Sequential(
        nn.Conv2d(1, 32, 4, 2, 1), nn.LeakyReLU(0.2),
        nn.Conv2d(32, 64, 4, 2, 1), nn.LeakyReLU(0.2),
        nn.Flatten(), nn.Linear(64 * 49, 1),
    )


def adam(model):
    return torch.optim.Adam(model.parameters(), lr=2e-4, betas=(0.5, 0.999))


def loss_of(model, images):
    return nn.functional.softplus(-model(images)).mean()


def plain(images):
    model = critic()
    optimizer = adam(model)

    def step():
        optimizer.zero_grad()
        loss_of(model, images).backward()
        optimizer.step()

    return step


def private(images):
    model = GradSampleModule(critic(), loss_reduction="mean")
    optimizer = DPOptimizer(
        adam(model), noise_multiplier=NOISE_MULTIPLIER, max_grad_norm=CLIP, expected_batch_size=BATCH
    )

    def step():
        optimizer.zero_grad()
        loss_of(model, images).backward()
        optimizer.step()

    return step


def ghost(images):
    from opacus.grad_sample import GradSampleModuleFastGradientClipping
    from opacus.optimizers.optimizer_fast_gradient_clipping import DPOptimizerFastGradientClipping

    model = GradSampleModuleFastGradientClipping(
        critic(), max_grad_norm=CLIP, use_ghost_clipping=True, loss_reduction="mean"
    )
    optimizer = DPOptimizerFastGradientClipping(
        adam(model), noise_multiplier=NOISE_MULTIPLIER, max_grad_norm=CLIP, expected_batch_size=BATCH
    )

    def step():
        optimizer.zero_grad()
        losses = nn.functional.softplus(-model(images)).squeeze(1)
        losses.mean().backward(retain_graph=True)
        optimizer.zero_grad()
        factors = model.get_clipping_coef()
        model.disable_hooks()
        (losses * factors).sum().backward()
        model.enable_hooks()
        optimizer.step()

    return step


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    kind = sys.argv[1] if len(sys.argv) > 1 else "opacus"
    images = torch.rand(BATCH, 1, 28, 28)
    before = peak()
    step = {"plain": plain, "opacus": private, "ghost": ghost}[kind](images)
    for _ in range(5):
        step()
    times = []
    for _ in range(60):
        started = time.perf_counter()
        step()
        times.append(1000 * (time.perf_counter() - started))
    print(json.dumps({
        "kind": kind,
        "torch": torch.__version__,
        "opacus": opacus.__version__,
        "ms": statistics.median(times),
        "mib": peak() - before,
    }))


main()
