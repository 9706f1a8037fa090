"""Runs a plan once on random data of the host: what counters.py looks at."""
import sys

import svod
from times import Host

plan = svod.load(sys.argv[1])
plan.instance()(**{name: Host.random(port, seed) for seed, (name, port) in enumerate(plan.inputs.items())})
