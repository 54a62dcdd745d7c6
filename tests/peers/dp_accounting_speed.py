"""Times Google's dp_accounting on the questions of benches/accounting.rs, one run each, one core.

    pip install "dp-accounting==0.6.*"
    taskset -c 0 python tests/peers/dp_accounting_speed.py

Prints one line a question: seconds and the ε (or noise) found. Compare with
    taskset -c 0 cargo bench --bench accounting
"""

import time

import dp_accounting as dpa
from dp_accounting import pld, rdp

DELTA = 1e-5


def training(noise, steps, rate=0.01):
    step = dpa.PoissonSampledDpEvent(rate, dpa.GaussianDpEvent(noise))
    return dpa.SelfComposedDpEvent(step, steps)


def mixed():
    events = []
    for i in range(20):
        events.append(training(1.0 + 0.05 * i, 100))
        events.append(dpa.LaplaceDpEvent(20.0 + i))
        events.append(dpa.GaussianDpEvent(30.0 + i))
        # The library has no event for "any pure mechanism"; a Laplace event of the same epsilon is its nearest.
        events.append(dpa.LaplaceDpEvent(1.0 / (0.01 + 0.001 * i)))
        events.append(dpa.DiscreteGaussianDpEvent(30.0 + i) if hasattr(dpa, "DiscreteGaussianDpEvent")
                      else dpa.GaussianDpEvent(30.0 + i))
    return dpa.ComposedDpEvent(events)


def timed(name, run):
    started = time.perf_counter()
    try:
        value = run()
    except Exception as error:  # a question the library does not answer is worth a line too
        value = f"{type(error).__name__}: {error}"
    print(f"{name:32} {time.perf_counter() - started:9.4f} s  {value}", flush=True)


def main():
    questions = {
        "10,000 steps": training(1.0, 10_000),
        "1,000,000 steps": training(1.0, 1_000_000),
        "100 mixed events": mixed(),
        "100 phases": dpa.ComposedDpEvent([training(1.0 + 0.02 * i, 100) for i in range(100)]),
    }
    for name, event in questions.items():
        timed(f"pld: {name}", lambda: pld.PLDAccountant().compose(event).get_epsilon(DELTA))
        timed(f"rdp: {name}", lambda: rdp.RdpAccountant().compose(event).get_epsilon(DELTA))
    for name, start in (("pld", pld.PLDAccountant), ("rdp", rdp.RdpAccountant)):
        timed(
            f"{name}: noise for 10,000 steps",
            lambda: dpa.calibrate_dp_mechanism(
                start,
                lambda noise: training(noise, 10_000),
                2.0,
                DELTA,
                dpa.ExplicitBracketInterval(0.5, 10.0),
                tol=1e-3,
            ),
        )


if __name__ == "__main__":
    main()
