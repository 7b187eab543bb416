"""Schedulers that are no kube-scheduler, by the schedulerName that pods ask for them with."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kubectl_sched.lazy_pattern import pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_sched.api.pod import Pod


_NO_NAME = pattern(r"[^a-z0-9.-]+")


def lease_name(scheduler_name: str) -> str:
    """The Lease by which the replicas of `bind --watch` that serve this name find out who of them leads."""
    return f"kubectl-sched-{_NO_NAME.sub('-', scheduler_name.lower())}"


class Product(NamedTuple):
    """Its name, and a word that the images of its scheduler hold."""

    name: str
    image_word: str


PRODUCTS: dict[str, Product] = {
    "gke.io/optimize-utilization-scheduler": Product("GKE's optimize-utilization profile", ""),
    "kai-scheduler": Product("KAI Scheduler", "kai-scheduler"),
    "koord-scheduler": Product("Koordinator", "koord-scheduler"),
    "kueue": Product("Kueue, which gates pods and is no scheduler", "kueue"),
    "stork": Product("Stork", "stork"),
    "volcano": Product("Volcano", "vc-scheduler"),
    "yunikorn": Product("YuniKorn", "yunikorn"),
}


def product_pods(scheduler_name: str, pods: Iterable[Pod]) -> list[Pod]:
    """The running pods of the product that serves the name."""
    product = PRODUCTS.get(scheduler_name)
    if product is None or not product.image_word:
        return []
    word = product.image_word
    return [pod for pod in pods if not pod.has_ended and any(word in each.image for each in pod.spec.containers)]
