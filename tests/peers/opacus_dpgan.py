"""Times a whole DPGAN training on images in PyTorch with Opacus, beside `benches/image_training.rs`.

60,000 images of 28 x 28 in ten classes; critic with convolutions 1-32-64 (4 x 4, stride 2) and a score for each class,
cross-entropy, Poisson batches of 128 expected, clipped and noised by Opacus' optimizer, 128 fakes a step; two critic steps
to one of a generator (10 latents and the class - 256 - 32 x 7 x 7 - 16 - 1, transposed convolutions, batch norm) on 128;
then 1,000 images are drawn. One thread.

    pip install torch opacus
    taskset -c 0 python tests/peers/opacus_dpgan.py
    taskset -c 0 cargo bench --bench image_training
"""
import json
import time
import warnings

import opacus
import torch
from opacus import GradSampleModule
from opacus.optimizers import DPOptimizer
from torch import nn
from torch.nn import functional

IMAGES, BATCH, CLASSES, LATENT, STEPS, DRAWN = 60_000, 128, 10, 10, 100, 1000


def critic():
    return nn.Sequential(
        nn.Conv2d(1, 32, 4, 2, 1), nn.LeakyReLU(0.2),
        nn.Conv2d(32, 64, 4, 2, 1), nn.LeakyReLU(0.2),
        nn.Flatten(), nn.Linear(64 * 49, CLASSES),
    )


def generator():
    return nn.Sequential(
        nn.Linear(LATENT + CLASSES, 256), nn.BatchNorm1d(256), nn.ReLU(),
        nn.Linear(256, 32 * 49), nn.BatchNorm1d(32 * 49), nn.ReLU(),
        nn.Unflatten(1, (32, 7, 7)),
        nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.BatchNorm2d(16), nn.ReLU(),
        nn.ConvTranspose2d(16, 1, 4, 2, 1), nn.Sigmoid(),
    )


def draw(model, count):
    labels = torch.arange(count) % CLASSES
    latents = torch.cat([torch.randn(count, LATENT), functional.one_hot(labels, CLASSES).float()], 1)
    return model(latents), labels


def scores(model, images, labels):
    return model(images).gather(1, labels[:, None]).squeeze(1)


def main():
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    images = torch.randint(0, 256, (IMAGES, 1, 28, 28), dtype=torch.uint8)
    labels = torch.arange(IMAGES) % CLASSES
    real_critic = GradSampleModule(critic(), loss_reduction="sum")
    maker = generator()
    critic_adam = DPOptimizer(
        torch.optim.Adam(real_critic.parameters(), lr=5e-4, betas=(0.5, 0.999)),
        noise_multiplier=1.0, max_grad_norm=1.0, expected_batch_size=BATCH, loss_reduction="sum",
    )
    maker_adam = torch.optim.Adam(maker.parameters(), lr=5e-4, betas=(0.5, 0.999))
    started = time.perf_counter()
    for step in range(STEPS):
        chosen = torch.nonzero(torch.rand(IMAGES) < BATCH / IMAGES).squeeze(1)
        critic_adam.zero_grad()
        batch = images[chosen].float() / 255
        functional.softplus(-scores(real_critic, batch, labels[chosen])).sum().backward()
        critic_adam.pre_step()
        # The fakes' gradient needs no noise: their number is fixed and they hold no private image. Clipped alike.
        noisy = [parameter.grad.clone() for parameter in real_critic.parameters()]
        critic_adam.zero_grad()
        with torch.no_grad():
            fake, classes = draw(maker, BATCH)
        functional.softplus(scores(real_critic, fake, classes)).sum().backward()
        critic_adam.clip_and_accumulate()
        for parameter, noise in zip(real_critic.parameters(), noisy):
            parameter.grad = noise + parameter.summed_grad.view_as(parameter) / BATCH
        critic_adam.original_optimizer.step()
        critic_adam.zero_grad()
        if step % 2:
            real_critic.disable_hooks()
            maker_adam.zero_grad()
            fake, classes = draw(maker, BATCH)
            functional.softplus(-scores(real_critic, fake, classes)).mean().backward()
            maker_adam.step()
            critic_adam.zero_grad()
            real_critic.enable_hooks()
    trained = time.perf_counter()
    maker.eval()
    with torch.no_grad():
        draw(maker, DRAWN)
    drawn = time.perf_counter()
    print(json.dumps({
        "torch": torch.__version__,
        "opacus": opacus.__version__,
        "ms_a_critic_step": 1000 * (trained - started) / STEPS,
        "ms_a_drawn_image": 1000 * (drawn - trained) / DRAWN,
    }))


main()
