"""Runs a command with limits and says what it used: `measured.py REPORT SECONDS BYTES COMMAND ...`.

A process of its own, because the peak of memory of a process counts what forked it.
"""
import json
import os
import resource
import subprocess
import sys


def main():
    report, seconds, memory, *command = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
    resource.setrlimit(resource.RLIMIT_DATA, (int(memory), int(memory)))
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    with open(report, "w") as f:
        json.dump(
            {
                "status": process.returncode, "seconds": usage.ru_utime + usage.ru_stime,
                "mib": usage.ru_maxrss / 1024
            }, f)


main()
