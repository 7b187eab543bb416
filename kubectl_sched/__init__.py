"""kubectl-sched: replays kube-scheduler's pipeline for a pod and explains what it decided."""
