"""A Slurm of a few nodes on loopback, for one test: no systemd, no cgroups, no accounting."""
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "sinfo")
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
MISSING = [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]

CONFIGURATION = """ClusterName=svod
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge/s
SlurmctldPort={port}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/log/slurmctld
SlurmdLogFile={folder}/log/slurmd.%n
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
ReturnToService=0
KillWait=2
MinJobAge=300
NodeName=node[1-{nodes}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs={cpus} RealMemory=1000 State=UNKNOWN
PartitionName=main Nodes=node[1-{nodes}] Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
"""


def free_ports(count):
    """The first of so many in a row that nobody listens on."""
    for first in range(17300, 32000, 97):
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
    raise RuntimeError("no free ports")


def words_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []


class Slurm:
    """`with Slurm(folder, 3) as slurm:`. What it starts ends with it, and nothing else does."""

    def __init__(self, folder, nodes):
        self.folder, self.nodes = Path(folder), nodes
        self.environment = os.environ | {"SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": PATH}

    def __enter__(self):
        for name in ("state", "munge", "log", *(f"spool.node{i + 1}" for i in range(self.nodes))):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "munge").chmod(0o700)
        (self.folder / "munge/key").write_bytes(os.urandom(1024))
        (self.folder / "munge/key").chmod(0o600)
        (self.folder / "cgroup.conf").write_text("CgroupAutomount=no\n")
        port = free_ports(self.nodes + 1)
        user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            host=socket.gethostname().split(".")[0], user=user, folder=self.folder, port=port, first=port + 1, last=port + self.nodes,
            nodes=self.nodes, cpus=os.cpu_count()))
        try:
            self.run("munged", f"--key-file={self.folder}/munge/key", f"--socket={self.folder}/munge/s", "--force",
                     f"--pid-file={self.folder}/munge/pid", f"--log-file={self.folder}/munge/log", f"--seed-file={self.folder}/munge/seed")
            self.run("slurmctld", "-c")
            for i in range(self.nodes):
                self.run("slurmd", "-N", f"node{i + 1}")
            self.wait(lambda: self.run("sinfo", "-h", "-t", "idle", "-o", "%D").strip() == str(self.nodes), 60)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        ended = [self.kill(self.folder / name, 15) for name in
                 (*(f"slurmd.node{i + 1}.pid" for i in range(self.nodes)), "slurmctld.pid", "munge/pid")]
        deadline = time.monotonic() + 30
        while any(words_of(pid) for pid in ended if pid) and time.monotonic() < deadline:
            time.sleep(0.1)

    def kill(self, path, signal):
        """The process whose number stands in a file of ours, if it is still a part of this Slurm. That number, or None."""
        try:
            pid = int(path.read_text())
        except (OSError, ValueError):
            return None
        name = (words_of(pid) or [""])[0].rpartition("/")[2].split(" ")[0]
        if name not in ("munged", "slurmctld", "slurmd"):
            return None
        os.kill(pid, signal)
        return pid

    def run(self, *words):
        # To a file: what goes on in the background would hold a pipe open.
        said = self.folder / "said"
        with open(said, "w+") as out:
            done = subprocess.run([shutil.which(words[0], path=PATH), *words[1:]], env=self.environment, stdin=subprocess.DEVNULL, stdout=out,
                                  stderr=subprocess.STDOUT, timeout=60)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}: {said.read_text()}")
        return said.read_text()

    def wait(self, is_so, seconds):
        deadline = time.monotonic() + seconds
        while not is_so():
            if time.monotonic() > deadline:
                raise TimeoutError((self.folder / "log/slurmctld").read_text()[-3000:])
            time.sleep(0.1)

    def tasks(self):
        """Of arrays: number of the part to its state, node and job."""
        rows = [line.split("|") for line in self.run("squeue", "-r", "-h", "-a", "-t", "all", "-o", "%K|%T|%N|%A").splitlines()]
        return {int(part): (state, node, job) for part, state, node, job in rows}

    def release(self, part):
        """A part that waits for its second start: Slurm lets two minutes pass by itself."""
        arrays = {line for line in self.run("squeue", "-r", "-h", "-t", "pending", "-o", "%F_%K").split() if line.endswith(f"_{part}")}
        for job in arrays:
            self.run("scontrol", "update", f"jobid={job}", "StartTime=now")

    def lose(self, node, job):
        """The node is gone with the job that ran there, and the administrator says so. The number of its processes."""
        killed = 0
        self.kill(self.folder / f"slurmd.{node}.pid", 9)
        steps = {p.name for p in Path("/proc").iterdir() if p.name.isdigit() and words_of(p.name)[:1] == [f"slurmstepd: [{job}.batch]"]}
        for process in Path("/proc").iterdir():
            try:
                parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
                inside = Path(os.readlink(process / "cwd")).is_relative_to(self.folder.parent)
            except (OSError, IndexError):
                continue
            if parent in steps and inside:
                os.kill(int(process.name), 9)
                os.kill(int(parent), 9)
                killed += 1
        self.run("scontrol", "update", f"nodename={node}", "state=down", "reason=lost")
        return killed
