"""How long a lab takes from a new value of the slider to the new pictures, without the browser.

    python benchmarks/lab.py

Prints the median and the slowest of 50 changes in milliseconds.
"""

from statistics import median
from time import perf_counter

from stoplib.course.lab import lab_limits


def changes(count: int) -> list[float]:
    """Seconds that each of `count` changes took; each of them draws other pictures."""
    lab = lab_limits()
    slider = lab.sliders["max_steps"]
    seconds = []
    for change in range(count):
        before = lab.steps.value
        start = perf_counter()
        slider.value = 1 + change % 10
        seconds.append(perf_counter() - start)
        assert lab.steps.value != before, "the picture did not change"
    return seconds


if __name__ == "__main__":
    took = changes(50)
    print(f"slider to pictures: median {median(took) * 1000:.0f} ms, slowest {max(took) * 1000:.0f} ms")
