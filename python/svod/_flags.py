"""The flags of commands of svodc, as keywords of Python. Written by tests/python/make_tables.py."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, Union

from ._svodc import Path

Words = Union[str, Sequence[str]]
Assigned = Union[str, Sequence[str], Mapping[str, Any]]  # {"x": "2x3"} is x=2x3


class CompileFlags(TypedDict, total=False):
    """Of svodc compile; docs/cli.md says what they do."""
    allow_c: bool | None
    bisect_limit: int | None
    cache_dir: Path | None
    cache_limit: int | None
    cc: Path | None
    const: Assigned | None
    cpu: Words | None
    cuda_arch: Words | None
    decide: Assigned | None
    decide_from: Path | None
    dependencies: bool | None
    depfile: Path | None
    depfile_phony: bool | None
    depfile_target: Words | None
    device: Assigned | None
    disable_pass: Words | None
    disable_rule: Words | None
    emit: Assigned | None
    fold_limit: int | None
    host_op: Assigned | None
    input_default: Words | None
    jobs: int | None
    max_arena: Words | None
    memory: Words | None
    most_instructions: int | None
    no_cache: bool | None
    numerics: Words | None
    nvrtc: Path | None
    opt_level: Literal[0, 1] | None
    opts: Assigned | None
    prefix: Words | None
    print_after: Words | None
    print_before: Words | None
    print_changed: bool | None
    repro_dir: Path | None
    repro_seconds: int | None
    reproducible: bool | None
    rule_stats: bool | None
    shape: Assigned | None
    specialize: Assigned | None
    state: Assigned | None
    stop_after: Words | None
    target: Words | None
    time_passes: bool | None
    triple: Words | None
    tuning_log: Path | None
    tuning_required: bool | None
    var: Assigned | None
    verify: bool | None
    verify_each: bool | None
    weights: Words | None


class InspectFlags(TypedDict, total=False):
    """Of svodc inspect; docs/cli.md says what they do."""
    bisect_limit: int | None
    cc: Path | None
    const: Assigned | None
    cpu: Words | None
    cuda_arch: Words | None
    decide: Assigned | None
    decide_from: Path | None
    decisions: bool | None
    device: Assigned | None
    disable_pass: Words | None
    disable_rule: Words | None
    fold_limit: int | None
    graph: bool | None
    host_op: Assigned | None
    input_default: Words | None
    jobs: int | None
    kernels: bool | None
    memory: bool | None
    most_instructions: int | None
    numerics: Words | None
    nvrtc: Path | None
    opt_level: Literal[0, 1] | None
    opts: Assigned | None
    profile: Path | None
    repro_dir: Path | None
    shape: Assigned | None
    source: bool | None
    specialize: Assigned | None
    state: Assigned | None
    steps: bool | None
    target: Words | None
    triple: Words | None
    tuning_log: Path | None
    var: Assigned | None
    variant: Words | None
    verify_each: bool | None


class TuneFlags(TypedDict, total=False):
    """Of svodc tune; docs/cli.md says what they do."""
    allow_c: bool | None
    beam: int | None
    bisect_limit: int | None
    caches: Words | None
    cc: Path | None
    compile_seconds: int | None
    const: Assigned | None
    cpu: Words | None
    cuda_arch: Words | None
    decide: Assigned | None
    decide_from: Path | None
    device: Assigned | None
    disable_pass: Words | None
    disable_rule: Words | None
    explain: Words | None
    fold_limit: int | None
    host_op: Assigned | None
    input_default: Words | None
    jobs: int | None
    least_gain: float | None
    most_instructions: int | None
    most_of_least: int | None
    numerics: Words | None
    nvrtc: Path | None
    phase: Words | None
    repro_dir: Path | None
    same_code: Words | None
    search: Words | None
    shape: Assigned | None
    specialize: Assigned | None
    state: Assigned | None
    stop_above: int | None
    target: Words | None
    threads: int | None
    triple: Words | None
    unit: Words | None
    units: int | None
    var: Assigned | None
    variables_at: Words | None
    verify_each: bool | None
    whole_grids: bool | None
