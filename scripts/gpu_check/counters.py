"""What ncu counts of the kernels of some timed cases: tensor cores, memory and why warps wait.

  counters.py NCU PLANS REPORT"""
import csv
import io
import json
import subprocess
import sys
from pathlib import Path

CASES = ["gemm_bf16_4096x4096x4096", "gemm_f32_4096x4096x4096", "silu_mul", "softmax_bf16_4096", "transpose_bf16", "attention_1024"]
METRICS = {
    "ns": "gpu__time_duration.sum",
    "tensor %": "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active",
    "issue %": "sm__issue_active.avg.pct_of_peak_sustained_active",
    "DRAM %": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "L2 %": "lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
    "bank conflicts": "l1tex__data_bank_conflicts_pipe_lsu.sum",
    "instructions": "smsp__inst_executed.sum",
}


def main():
    program, plans, report = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    rows = {}
    for case in CASES:
        command = [program, "--clock-control", "none", "--csv", "--metrics", ",".join(METRICS.values()), "-k", "regex:^[a-z]_[er][0-9]",
                   sys.executable, str(Path(__file__).with_name("once.py")), str(plans / case)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=40)
        text = done.stdout[done.stdout.find('"ID"'):] if '"ID"' in done.stdout else ""
        for line in csv.DictReader(io.StringIO(text)):
            name = next((short for short, metric in METRICS.items() if metric == line.get("Metric Name")), None)
            if name:
                rows.setdefault(f"{case} {line['Kernel Name']}", {})[name] = line["Metric Value"]
        if not text:
            rows[case] = {"failed": (done.stdout + done.stderr)[-300:]}
    report.write_text(json.dumps(rows, indent=1))
    for name, values in rows.items():
        print(f"{name[:60]:60} " + ", ".join(f"{key} {value}" for key, value in values.items()))
    return 1 if any("failed" in values for values in rows.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
