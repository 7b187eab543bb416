"""A real control plane on loopback: etcd, kube-apiserver and, where wanted, kube-scheduler and kube-controller-manager.

By hand, until interrupted:

    python -m tests.e2e.control_plane --scheduler --controller-manager

prints `export KUBECONFIG=...` for the tool and for kubectl. The programs are those of $KUBEBUILDER_ASSETS where that is
set (as envtest of controller-runtime has them; kube-scheduler and kube-controller-manager are not among those and are
built), else built once from their Go modules and kept under ${XDG_CACHE_HOME:-~/.cache}/kubectl-sched/servers.
"""

import argparse
import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.oracle.build import PROGRAM, VERSIONS, cache_home, fingerprint, go, toolchain_of

MINOR = "1.36"
"""Whose servers are started unless a test asks for others."""

SERVERS = Path(__file__).parent / "servers"

PACKAGES = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
}

CONTROLLERS = (
    "cronjob-controller,daemonset-controller,deployment-controller,disruption-controller,"
    "endpointslice-controller,ephemeral-volume-controller,garbage-collector-controller,job-controller,namespace-controller,"
    "persistentvolume-binder-controller,persistentvolume-protection-controller,persistentvolumeclaim-protection-controller,"
    "replicaset-controller,resourceclaim-controller,serviceaccount-controller,statefulset-controller"
)
"""Never node-lifecycle: it would taint nodes that send no heartbeat, and none of these does."""

ADMIN_TOKEN = "admin-of-a-test"  # noqa: S105 - of a server on loopback that lives as long as the test

GUARD = """
folder=$1; shift
"$@" < /dev/null & server=$!
read -r word
kill -9 "$server" 2> /dev/null
wait "$server" 2> /dev/null
[ "$word" = stop ] || rm -rf "$folder"
"""
"""Ends a server when it is told to, or when the other end of standard input closes: however the test run dies."""


class StartError(Exception):
    """A server did not come up; the text ends with what it wrote last."""


def binary(name: str, minor: str = MINOR) -> Path:
    """The path of a server's program, built if need be; one etcd serves all minors.

    Of a minor of which not all modules are served yet kube-scheduler alone can be had: the oracle's module names it.
    """
    if name == "etcd":
        minor = MINOR
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    if assets and minor == MINOR and (Path(assets) / name).exists():
        return Path(assets) / name
    module = SERVERS / ("go.mod" if minor == MINOR else f"v{minor}.mod")
    if not module.exists():
        module = PROGRAM / f"v{minor}.mod"
    version, digest = VERSIONS[minor], fingerprint([module, module.with_suffix(".sum")])
    target = cache_home() / "servers" / f"{version}-{digest}" / name
    if not target.exists():
        build(PACKAGES[name], target, module, version)
    return target


def build(package: str, target: Path, module: Path, version: str) -> None:
    """Build one server into `target`, which appears only when it is whole."""
    target.parent.mkdir(parents=True, exist_ok=True)
    major, minor = version.split(".")[:2]
    values = {"gitVersion": f"v{version}", "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    modules = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    stamp = " ".join(f"-X {module}.{name}={value}" for module in modules for name, value in values.items())
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        partial = Path(folder) / target.name
        arguments = [f"-modfile={module}", "-ldflags", stamp, "-o", str(partial), package]
        if module.parent == PROGRAM:  # it has no sums for what kube-scheduler's command alone needs
            for file in (module, module.with_suffix(".sum")):
                shutil.copy(file, folder)
            arguments[:1] = ["-mod=mod", f"-modfile={Path(folder) / module.name}"]
        toolchain = toolchain_of(module)
        variables = {**os.environ, "GOTOOLCHAIN": toolchain} if toolchain else None
        subprocess.run([go(), "build", *arguments], cwd=SERVERS, env=variables, check=True)
        partial.replace(target)


def free_ports(count: int) -> list[int]:
    """Ports of the loopback interface that nobody listens on."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports: list[int] = [opened.getsockname()[1] for opened in sockets]
    for opened in sockets:
        opened.close()
    return ports


class Server:
    """One running program that dies with this process."""

    def __init__(
        self, folder: Path, name: str, flags: list[str], *, minor: str = MINOR, label: str | None = None
    ) -> None:
        self.label = label or name
        self.log = folder / f"{self.label}.log"
        with self.log.open("wb") as log:
            self._guard = subprocess.Popen(
                ["/bin/sh", "-c", GUARD, "guard", str(folder), str(binary(name, minor)), *flags],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def stop(self) -> None:
        """End the program at once."""
        assert self._guard.stdin is not None
        with contextlib.suppress(BrokenPipeError, ValueError):  # it has ended, or was stopped before
            self._guard.stdin.write(b"stop\n")
            self._guard.stdin.close()
        self._guard.wait()

    def last_words(self) -> str:
        """The end of its log."""
        return self.log.read_text(errors="replace")[-3000:]


class ControlPlane:
    """A control plane of its own, ready when the block is entered and gone when it is left."""

    def __init__(
        self,
        *,
        scheduler: bool = False,
        controller_manager: bool = False,
        controllers: str = CONTROLLERS,
        feature_gates: str = "",
        extra_apiserver_flags: tuple[str, ...] = (),
        minor: str = MINOR,
    ) -> None:
        self._minor = minor
        self._wants_scheduler = scheduler
        self._wants_controller_manager = controller_manager
        self._controllers = controllers
        self._gates = [f"--feature-gates={feature_gates}"] if feature_gates else []
        self._extra_apiserver_flags = extra_apiserver_flags
        self._servers: list[Server] = []

    def __enter__(self) -> Self:
        self.folder = Path(tempfile.mkdtemp(prefix="control-plane-"))
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def kubeconfig(self) -> Path:
        """A kubeconfig whose user may do everything."""
        return self.folder / "kubeconfig"

    def stop(self) -> None:
        """End all servers and remove what they left."""
        for server in reversed(self._servers):
            server.stop()
        self._servers.clear()
        shutil.rmtree(self.folder, ignore_errors=True)

    def kubeconfig_for(self, token: str) -> Path:
        """A kubeconfig for the bearer of a token."""
        path = self.folder / f"kubeconfig-{token}"
        path.write_text(json.dumps(self._kubeconfig(token)))
        return path

    def start_scheduler(
        self,
        *flags: str,
        config: dict[str, object] | None = None,
        label: str = "kube-scheduler",
        minor: str | None = None,
    ) -> Server:
        """Start a kube-scheduler with its verbose log; `config` holds fields of its KubeSchedulerConfiguration.

        It is of the servers' minor, unless another is named.
        """
        elected = any(flag.startswith("--leader-elect") for flag in flags)
        common = ["--secure-port=0", "-v=10", *self._gates]
        if config is None:
            common += [f"--kubeconfig={self.kubeconfig}"] + ([] if elected else ["--leader-elect=false"])
        else:
            path = self.folder / f"{label}.yaml"
            path.write_text(json.dumps(self._scheduler_configuration(config)))
            common.append(f"--config={path}")
        server = Server(self.folder, "kube-scheduler", [*common, *flags], minor=minor or self._minor, label=label)
        self._servers.append(server)
        return server

    def _scheduler_configuration(self, fields: dict[str, object]) -> dict[str, object]:
        """A whole configuration: with a file, kube-scheduler does not look at the flags for these."""
        return {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "clientConnection": {"kubeconfig": str(self.kubeconfig), "qps": 1000, "burst": 1000},
            "leaderElection": {"leaderElect": False},
        } | fields

    def _start(self) -> None:
        etcd_client, etcd_peer, self.port = free_ports(3)
        self._launch("etcd", etcd_flags(self.folder, etcd_client, etcd_peer))
        (self.folder / "tokens.csv").write_text(f'{ADMIN_TOKEN},admin,admin,"system:masters"\n')
        (self.folder / "service-account.pem").write_text(service_account_key())
        flags = apiserver_flags(self.folder, self.port, etcd_client)
        self._apiserver_flags = [*flags, *self._gates, *self._extra_apiserver_flags]
        self._start_apiserver()
        self.kubeconfig.write_text(json.dumps(self._kubeconfig(ADMIN_TOKEN)))
        if self._wants_controller_manager:
            key = self.folder / "service-account.pem"
            flags = [f"--kubeconfig={self.kubeconfig}", "--secure-port=0", "--leader-elect=false"]
            flags += [f"--controllers={self._controllers}", f"--service-account-private-key-file={key}"]
            self._launch("kube-controller-manager", flags + self._gates)
        if self._wants_scheduler:
            self.start_scheduler()

    def restart_apiserver(self) -> None:
        """End kube-apiserver at once and start it anew; its state is etcd's."""
        old = next(each for each in self._servers if each.label == "kube-apiserver")
        old.stop()
        self._servers.remove(old)
        self._start_apiserver()

    def _start_apiserver(self) -> None:
        self._launch("kube-apiserver", self._apiserver_flags)
        self._await_ready()

    def _launch(self, name: str, flags: list[str]) -> None:
        self._servers.append(Server(self.folder, name, flags, minor=self._minor))

    def _await_ready(self) -> None:
        deadline = time.monotonic() + 90
        while time.monotonic() < deadline:
            try:
                if self.get("/readyz") == b"ok":
                    return
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(0.1)
        words = "\n".join(f"{server.label}: {server.last_words()}" for server in self._servers)
        message = f"kube-apiserver is not ready after 90 s\n{words}"
        raise StartError(message)

    def get(self, path: str) -> bytes:
        """The body of a GET as the administrator."""
        context = ssl._create_unverified_context()  # noqa: S323, SLF001 - before its certificate can be known
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=context, timeout=30)
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {ADMIN_TOKEN}"})
            return connection.getresponse().read()
        finally:
            connection.close()

    def _kubeconfig(self, token: str) -> dict[str, object]:
        server = {
            "server": f"https://127.0.0.1:{self.port}",
            "certificate-authority": str(self.folder / "certificates" / "apiserver.crt"),
        }
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": server}],
            "users": [{"name": "test", "user": {"token": token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
            "current-context": "test",
        }


def etcd_flags(folder: Path, client: int, peer: int) -> list[str]:
    """An etcd that forgets: nothing is synced to the disk."""
    return [
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls=http://127.0.0.1:{client}",
        f"--advertise-client-urls=http://127.0.0.1:{client}",
        f"--listen-peer-urls=http://127.0.0.1:{peer}",
        f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}",
        f"--initial-cluster=default=http://127.0.0.1:{peer}",
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def apiserver_flags(folder: Path, port: int, etcd: int) -> list[str]:
    """A kube-apiserver that makes its own certificate."""
    key = folder / "service-account.pem"
    return [
        f"--etcd-servers=http://127.0.0.1:{etcd}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        f"--cert-dir={folder / 'certificates'}",
        f"--service-account-key-file={key}",
        f"--service-account-signing-key-file={key}",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--service-cluster-ip-range=10.0.0.0/24",
        f"--token-auth-file={folder / 'tokens.csv'}",
        "--authorization-mode=RBAC",
        "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
        "--allow-privileged=true",
    ]


def service_account_key() -> str:
    """A fresh private key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        message = "A control plane needs a key for its service accounts: put `openssl` on the PATH."
        raise StartError(message)
    return subprocess.run([openssl, "genrsa", "2048"], capture_output=True, text=True, check=True).stdout


def main() -> None:
    """Run a control plane until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scheduler", action="store_true", help="also run kube-scheduler")
    parser.add_argument("--controller-manager", action="store_true", help="also run kube-controller-manager")
    parser.add_argument("--feature-gates", default="", help="for all of them, as A=true,B=false")
    parser.add_argument("--minor", default=MINOR, choices=("1.35", "1.36", "1.37"), help="of the servers")
    options = parser.parse_args()
    with ControlPlane(
        scheduler=options.scheduler,
        controller_manager=options.controller_manager,
        feature_gates=options.feature_gates,
        minor=options.minor,
    ) as plane:
        print(f"export KUBECONFIG={plane.kubeconfig}", flush=True)
        print(f"The logs are in {plane.folder}. Ctrl-C ends everything.", file=sys.stderr)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        with contextlib.suppress(KeyboardInterrupt):
            signal.pause()


if __name__ == "__main__":
    main()
