"""The flags of commands of svodc, as keywords of Python. Written by tests/python/make_tables.py."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, Union

from ._svodc import Path

Words = Union[str, Sequence[str]]
Assigned = Union[str, Sequence[str], Mapping[str, Any]]  # {"x": "2x3"} is x=2x3


class CompileFlags(TypedDict, total=False):
    """Of svodc compile; docs/cli.md says what they do."""
    emit: Assigned | None
    prefix: Words | None
    weights: Words | None
    dependencies: bool | None
    depfile: Path | None
    depfile_target: Words | None
    depfile_phony: bool | None
    target: Words | None
    device: Assigned | None
    triple: Words | None
    cpu: Words | None
    reproducible: bool | None
    cuda_arch: Words | None
    nvrtc: Path | None
    opt_level: Literal[0, 1] | None
    opts: Assigned | None
    decide: Assigned | None
    decide_from: Path | None
    tuning_log: Path | None
    tuning_required: bool | None
    most_instructions: int | None
    var: Assigned | None
    specialize: Assigned | None
    shape: Assigned | None
    const: Assigned | None
    state: Assigned | None
    input_default: Words | None
    host_op: Assigned | None
    numerics: Words | None
    fold_limit: int | None
    memory: Words | None
    max_arena: Words | None
    cc: Path | None
    jobs: int | None
    verify: bool | None
    allow_c: bool | None
    cache_dir: Path | None
    cache_limit: int | None
    no_cache: bool | None
    print_before: Words | None
    print_after: Words | None
    print_changed: bool | None
    stop_after: Words | None
    time_passes: bool | None
    rule_stats: bool | None
    disable_rule: Words | None
    disable_pass: Words | None
    bisect_limit: int | None
    verify_each: bool | None
    repro_dir: Path | None
    repro_seconds: int | None


class InspectFlags(TypedDict, total=False):
    """Of svodc inspect; docs/cli.md says what they do."""
    target: Words | None
    device: Assigned | None
    triple: Words | None
    cpu: Words | None
    cuda_arch: Words | None
    nvrtc: Path | None
    opt_level: Literal[0, 1] | None
    opts: Assigned | None
    decide: Assigned | None
    decide_from: Path | None
    tuning_log: Path | None
    most_instructions: int | None
    var: Assigned | None
    specialize: Assigned | None
    shape: Assigned | None
    const: Assigned | None
    state: Assigned | None
    input_default: Words | None
    host_op: Assigned | None
    numerics: Words | None
    fold_limit: int | None
    cc: Path | None
    jobs: int | None
    graph: bool | None
    decisions: bool | None
    kernels: bool | None
    profile: Path | None
    source: bool | None
    memory: bool | None
    steps: bool | None
    variant: Words | None
    disable_rule: Words | None
    disable_pass: Words | None
    bisect_limit: int | None
    verify_each: bool | None
    repro_dir: Path | None


class TuneFlags(TypedDict, total=False):
    """Of svodc tune; docs/cli.md says what they do."""
    target: Words | None
    device: Assigned | None
    triple: Words | None
    cpu: Words | None
    cuda_arch: Words | None
    nvrtc: Path | None
    decide: Assigned | None
    decide_from: Path | None
    explain: Words | None
    units: int | None
    unit: Words | None
    search: Words | None
    phase: Words | None
    compile_seconds: int | None
    most_instructions: int | None
    most_of_least: int | None
    stop_above: int | None
    least_gain: float | None
    whole_grids: bool | None
    caches: Words | None
    same_code: Words | None
    variables_at: float | None
    threads: int | None
    beam: int | None
    var: Assigned | None
    specialize: Assigned | None
    shape: Assigned | None
    const: Assigned | None
    state: Assigned | None
    input_default: Words | None
    host_op: Assigned | None
    numerics: Words | None
    fold_limit: int | None
    cc: Path | None
    jobs: int | None
    allow_c: bool | None
    disable_rule: Words | None
    disable_pass: Words | None
    bisect_limit: int | None
    verify_each: bool | None
    repro_dir: Path | None
