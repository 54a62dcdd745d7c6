"""Times the Fréchet distance of 10,000 against 10,000 rows of 256 features in NumPy and SciPy, beside
`benches/frechet.rs`, which reads the same rows.

    pip install numpy scipy
    python tests/peers/frechet_speed.py FOLDER
    FRECHET_BENCH_FOLDER=FOLDER cargo bench --bench frechet

The way that FID is usually computed: the means, `numpy.cov` of each side in double precision, `scipy.linalg.sqrtm` of
the product, traces. Stores the rows and the distance in the folder. For one thread, set OPENBLAS_NUM_THREADS=1 here and
`taskset -c 0` for both.
"""
import pathlib
import statistics
import sys
import time

import numpy
import scipy
import scipy.linalg

ROWS, WIDTH = 10_000, 256


def features(seed, shift):
    random = numpy.random.default_rng(seed)
    mixing = numpy.random.default_rng(0).normal(size=(WIDTH, WIDTH)) / WIDTH**0.5
    rows = random.normal(size=(ROWS, WIDTH)) @ mixing + shift
    # Like features after a ReLU.
    return numpy.maximum(rows, 0).astype(numpy.float32)


def distance(one, other):
    one, other = one.astype(numpy.float64), other.astype(numpy.float64)
    shift = one.mean(axis=0) - other.mean(axis=0)
    first, second = numpy.cov(one, rowvar=False), numpy.cov(other, rowvar=False)
    root = scipy.linalg.sqrtm(first @ second)
    return shift @ shift + numpy.trace(first) + numpy.trace(second) - 2 * numpy.trace(root.real)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    real, made = features(1, 0.0), features(2, 0.05)
    real.astype("<f4").tofile(folder / "real.f32")
    made.astype("<f4").tofile(folder / "made.f32")
    found = distance(real, made)
    (folder / "distance.txt").write_text(repr(float(found)))
    seconds = []
    for _ in range(20):
        start = time.perf_counter()
        distance(real, made)
        seconds.append(time.perf_counter() - start)
    print(f"numpy {numpy.__version__}, scipy {scipy.__version__}: distance {found}")
    print(f"least {min(seconds) * 1000:.1f} ms, median {statistics.median(seconds) * 1000:.1f} ms")


if __name__ == "__main__":
    main()
