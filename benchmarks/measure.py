"""Interleaved timing: contenders take turns in short batches, so that all of them see the machine as it is."""
import statistics
import time
from dataclasses import dataclass

BATCH_SECONDS = 0.03
# Threads of libraries keep spinning after a call (OpenBLAS: 2^26 cycles) and would take a core from the next contender.
SETTLE_SECONDS = 0.05


@dataclass
class Timing:
    """Seconds of one call, one entry per round."""
    rounds: list

    @property
    def best(self):
        return min(self.rounds)


def batch(run, repeats, clock=time.perf_counter):
    start = clock()
    for _ in range(repeats):
        run()
    return (clock() - start) / repeats


def repeats_for(run, clock=time.perf_counter):
    run()
    repeats = 1
    while True:
        seconds = batch(run, repeats, clock)
        if seconds * repeats > BATCH_SECONDS / 3:
            return max(1, round(BATCH_SECONDS / seconds))
        repeats *= 4


def interleave(contenders, rounds, clock=time.perf_counter):
    """contenders: name -> function of no arguments. Returns name -> Timing by `clock`, which counts seconds."""
    repeats = {name: repeats_for(run, clock) for name, run in contenders.items()}
    times = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            time.sleep(SETTLE_SECONDS)
            run()
            times[name].append(batch(run, repeats[name], clock))
    return {name: Timing(seconds) for name, seconds in times.items()}


def ratio(ours, theirs):
    """How many times as fast we are: median over the rounds, and the quartiles around it."""
    each = sorted(t / o for o, t in zip(ours.rounds, theirs.rounds))
    quartiles = statistics.quantiles(each, n=4) if len(each) > 1 else each * 3
    return quartiles[1], quartiles[0], quartiles[2]
