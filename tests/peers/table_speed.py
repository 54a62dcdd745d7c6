"""Times reading a table of a million rows in pandas and polars, beside `benches/table.rs`.

    pip install pandas pyarrow polars
    python tests/peers/table_speed.py FOLDER
    TABLE_BENCH_FOLDER=FOLDER cargo bench --bench table -- read

Writes `million.csv` and `million.parquet` (the rows of the Adult sample, over and over) into the folder unless they are there,
and reads them: pandas by its default reader, polars by its own, each in a process
of its own that reads the file five times. Prints the least and the median seconds, and the most memory that the process
held beyond what it had before.
"""
import json
import os
import resource
import statistics
import subprocess
import sys
import time

ROWS = 1_000_000
READERS = {
    "pandas csv": ("pandas", "pandas.read_csv({path!r})", "million.csv"),
    "polars csv": ("polars", "polars.read_csv({path!r})", "million.csv"),
    "pandas parquet": ("pandas", "pandas.read_parquet({path!r})", "million.parquet"),
    "polars parquet": ("polars", "polars.read_parquet({path!r})", "million.parquet"),
}


def make(folder):
    import pandas

    if os.path.exists(f"{folder}/million.parquet"):
        return
    sample = os.path.join(os.path.dirname(__file__), "../../assets/samples/adult.parquet")
    rows = pandas.read_parquet(sample)
    copies = -(-ROWS // len(rows))
    table = pandas.concat([rows] * copies, ignore_index=True).head(ROWS)
    table.to_csv(f"{folder}/million.csv", index=False)
    table.to_parquet(f"{folder}/million.parquet", index=False)


def measure(module, expression):
    scope = {module: __import__(module)}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        rows = len(eval(expression, scope))
        seconds.append(time.perf_counter() - start)
        assert rows == ROWS, rows
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "seconds_least": round(min(seconds), 3),
        "seconds_median": round(statistics.median(seconds), 3),
        "megabytes": (after - before) // 1024,
    }


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "--one":
        print(json.dumps(measure(sys.argv[2], sys.argv[3])))
        return
    folder = sys.argv[1].rstrip("/")
    make(folder)
    for name, (module, expression, file) in READERS.items():
        command = [sys.executable, __file__, "--one", module, expression.format(path=f"{folder}/{file}")]
        print(name, subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip(), flush=True)


if __name__ == "__main__":
    main()
