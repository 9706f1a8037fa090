#!/usr/bin/env python3
"""Prints a graph of about N nodes for compile-time measurements: blocks of ten ops, as in a deep network.

usage: scripts/make_graph.py N > graph.svod
Every block has constants of its own, so that no two blocks share a kernel.
"""
import sys


def main() -> None:
    nodes = int(sys.argv[1])
    print("svod 1\ninput x: f32[32, 64]\ninput w: f32[64, 64]")
    value = "x"
    for block in range((nodes + 9) // 10):
        c = 1 + block / 64
        print(f"m{block} = matmul({value}, w)")
        print(f"a{block} = add(m{block}, {c})")
        print(f"r{block} = relu(a{block})")
        print(f"s{block} = mul(r{block}, {c + 0.5})")
        print(f"v{block} = mean(s{block}, axes=[1], keepdims=true)")
        print(f"d{block} = sub(s{block}, v{block})")
        print(f"q{block} = mul(d{block}, d{block})")
        print(f"n{block} = sqrt(add(mean(q{block}, axes=[1], keepdims=true), 0.001))")
        print(f"y{block} = div(d{block}, n{block})")
        value = f"y{block}"
    print(f"output out = {value}")


main()
