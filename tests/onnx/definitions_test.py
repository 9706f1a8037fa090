"""ONNX ops against their definitions, written in numpy: attributes, opsets and edge cases beside the published ones.

python3 tests/onnx/definitions_test.py [PART OF A NAME]; SVOD_ONNX_FLAGS=-O0 adds flags to svodc.
"""
import sys
from pathlib import Path

try:
    import numpy  # noqa: F401
except ImportError:
    print("skipped: no numpy")
    sys.exit(77)

sys.path.insert(0, str(Path(__file__).parent / "definitions"))
import contrib  # noqa: E402,F401
import dynamic  # noqa: E402,F401
import edges  # noqa: E402,F401
import fused  # noqa: E402,F401
import heads  # noqa: E402,F401
import images  # noqa: E402,F401
import legacy  # noqa: E402,F401
import ml  # noqa: E402,F401
import norms_signals  # noqa: E402,F401
import one_node  # noqa: E402
import pictures  # noqa: E402,F401
import qlinear  # noqa: E402,F401
import small_types  # noqa: E402,F401
import windows  # noqa: E402,F401

sys.exit(one_node.run(*sys.argv[1:2]))
