import subprocess
import sys

import pytest

PROGRAM = """
import sys, threading
from kubectl_sched.api.decoders import decoder
from kubectl_sched.sources.kinds import KINDS

sys.setswitchinterval(1e-6)
CONTAINER = b'{"name":"a","resources":{"requests":{"cpu":"1"}}}'
TEXT = (
    b'{"metadata":{"name":"x","annotations":{"a":"b"},"ownerReferences":[{"kind":"a","name":"x"}]},"spec":{"template":'
    b'{"spec":{"containers":[' + CONTAINER + b']}},"containers":[' + CONTAINER + b']},'
    b'"status":{"conditions":[{"type":"a"}]}}'
)
NAMES = {"Pod", "Node", "Namespace", "Service", "PersistentVolumeClaim", "PersistentVolume", "ResourceClaim"}
NAMES |= {"ReplicaSet", "Deployment"}
kinds = [kind.type for kind in KINDS if kind.name in NAMES]
together = threading.Barrier(len(kinds))

def decode(kind):
    together.wait()
    decoder(kind).decode(TEXT)

threads = [threading.Thread(target=decode, args=(kind,)) for kind in kinds]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""
"""With decoders that each thread makes for itself, two runs of five end in a segmentation fault."""


@pytest.mark.parametrize("run", range(8))
def test_threads_may_decode_types_with_parts_in_common_for_the_first_time_at_once(run: int) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), run
