"""Runs a command with limits and says what it used: `measured.py REPORT SECONDS BYTES COMMAND ...`.

A process of its own, because the peak of memory of a process counts what forked it. Memory is what is resident: a limit of
the address space (RLIMIT_DATA) would count what is reserved for sizes that no run has.
"""
import json
import os
import resource
import subprocess
import sys
import time


def resident(pid):
    """Bytes of memory of its own that a process holds; files mapped into it are not counted."""
    with open(f"/proc/{pid}/status") as status:
        return sum(int(line.split()[1]) * 1024 for line in status if line.startswith(("RssAnon", "VmSwap")))


def waited(process, memory):
    """(status, usage) of the process, which is killed when it holds more than `memory` bytes."""
    pause = 0.001
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            return status, usage
        if resident(process.pid) > memory:
            process.kill()
        time.sleep(pause)
        pause = min(2 * pause, 0.05)


def main():
    report, seconds, memory, *command = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    status, usage = waited(process, int(memory))
    process.returncode = os.waitstatus_to_exitcode(status)
    with open(report, "w") as f:
        json.dump(
            {
                "status": process.returncode, "seconds": usage.ru_utime + usage.ru_stime,
                "mib": usage.ru_maxrss / 1024
            }, f)


main()
