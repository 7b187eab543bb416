"""A simulation over the cluster of a request to the oracle."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kubectl_sched.api.pod import Pod
from kubectl_sched.simulation.queue_simulation import Simulation
from kubectl_sched.sources.discovery.replay_setup import Replay, configuration_for, scheduler_for
from kubectl_sched.sources.dump.reader import read
from tests.oracle.build import patch_of

if TYPE_CHECKING:
    from pathlib import Path


def simulated(
    request: dict[str, Any], folder: Path, minor: str, simulation: type[Simulation] = Simulation
) -> tuple[Simulation, dict[str, Pod]]:
    """A simulation of the request's cluster, and the pods in it."""
    dump_file, config = folder / "dump.json", folder / "config.yaml"
    dump_file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": request["objects"]}))
    config.write_text(request.get("config") or "")
    gates = ",".join(f"{name}={str(value).lower()}" for name, value in (request.get("featureGates") or {}).items())
    dump = read([str(dump_file)])
    replay = Replay(
        config=str(config) if request.get("config") else None, kube_version=patch_of(minor), feature_gates=gates or None
    )
    scheduler, _ = scheduler_for(dump, configuration_for(dump, replay))
    return simulation(scheduler), {item.key: item for item in dump.objects if isinstance(item, Pod)}
