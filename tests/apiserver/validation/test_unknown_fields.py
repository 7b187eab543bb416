"""Unknown fields are named; tests/e2e/apiserver/test_manifests.py compares the table with a real server."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_sched.apiserver.validation.unknown_fields import about_unknown_fields, unknown_fields

Json = dict[str, Any]


def deployment(pod: Json | None = None, spec: Json | None = None, **fields: Any) -> Json:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main"}], **(pod or {})}}
    return {"kind": "Deployment", "metadata": {"name": "web"}, "spec": {"template": template, **(spec or {})}, **fields}


POD = "spec.template.spec"


@pytest.mark.parametrize(("written", "path", "meant"), [
    (deployment({"nodeSelectr": {}}), f"{POD}.nodeSelectr", "nodeSelector"),
    (deployment({"nodeselector": {}}), f"{POD}.nodeselector", "nodeSelector"),
    (deployment({"containers": [{}, {"resources": {"request": {}}}]}),
     f"{POD}.containers[1].resources.request", "requests"),
    (deployment({"containers": [{"tolerations": []}]}), f"{POD}.containers[0].tolerations", f"{POD}.tolerations"),
    (deployment(spec={"nodeSelector": {}}), "spec.nodeSelector", f"{POD}.nodeSelector"),
    (deployment(spec={"containers": []}), "spec.containers", f"{POD}.containers"),
    (deployment(replicas=3), "replicas", "spec.replicas"),
    (deployment({"affinity": {"nodeAffinity": {"required": {}}}}), f"{POD}.affinity.nodeAffinity.required", None),
    ({"kind": "CronJob", "spec": {"jobTemplate": {"spec": {"paralelism": 1}}}},
     "spec.jobTemplate.spec.paralelism", "parallelism"),
])  # fmt: skip
def test_an_unknown_field_is_named_with_what_may_be_meant(written: Json, path: str, meant: str | None) -> None:
    assert list(unknown_fields(written)) == [(path, meant)]


@pytest.mark.parametrize("written", [
    deployment({"nodeSelector": {"any": "key"}, "volumes": [{"name": "v", "configMap": {"name": "c"}}]}),
    deployment({"securityContext": {"sysctls": [{"name": "a", "value": "b"}]}}, status={"whatever": 1}),
    deployment(metadata={"managedFields": [{"fieldsV1": {"f:spec": {}}}], "annotations": {"a": "b"}}),
    deployment({"containers": [{"resources": {"limits": {"example.com/gpu": 1}}, "lifecycle": {"preStop": None}}]}),
    {"kind": "ConfigMap", "anything": 1},
    {"kind": "Pod", "spec": ["no", "object"]},
])  # fmt: skip
def test_what_kubernetes_knows_is_not_named(written: Json) -> None:
    assert list(unknown_fields(written)) == []


def test_a_sentence_tells_of_all_fields_of_a_manifest() -> None:
    (one,) = about_unknown_fields(deployment({"nodeSelectr": {}}))
    assert one == (
        f'Deployment web has a field that Kubernetes does not know: "{POD}.nodeSelectr" (is it nodeSelector?); '
        "kubectl apply refuses it"
    )
    (two,) = about_unknown_fields(deployment({"nodeSelectr": {}, "foo": 1}))
    assert two.startswith("Deployment web has 2 fields that Kubernetes does not know: ")
    assert f'"{POD}.foo"; kubectl apply refuses them' in two
