"""What the API server refuses in workloads and in pods; tests/e2e/apiserver/test_manifests.py asks a real one."""

from __future__ import annotations

import msgspec
import pytest

from kubectl_sched.api.pod import Pod
from kubectl_sched.apiserver.pod_admission import Admission
from kubectl_sched.apiserver.refused_manifest import RefusedError
from kubectl_sched.apiserver.validation.workload_validation import check_workload
from kubectl_sched.config import Features, KubeVersion
from kubectl_sched.snapshot import Objects
from tests.apiserver.workloads import WRITTEN, Written
from tests.sources.pods import WRITTEN_PODS, Json, pod_of

ADMISSION = Admission(objects=Objects([]), enabled=Features.for_version(KubeVersion.parse("1.36"), {}).enabled)


@pytest.mark.parametrize("written", [each for each in WRITTEN if each.field], ids=lambda each: each.id)
def test_a_mistake_is_named_by_its_field(written: Written) -> None:
    with pytest.raises(RefusedError) as refused:
        check_workload(msgspec.convert(written.body, written.kind))
    assert refused.value.field == written.field


@pytest.mark.parametrize("written", [each for each in WRITTEN if not each.field], ids=lambda each: each.id)
def test_what_is_right_is_accepted(written: Written) -> None:
    check_workload(msgspec.convert(written.body, written.kind))


@pytest.mark.parametrize(("field", "spec"), [each for each in WRITTEN_PODS if each[0]])
def test_a_mistake_in_a_pod_is_named_by_its_field(field: str, spec: Json) -> None:
    with pytest.raises(RefusedError) as refused:
        ADMISSION.admitted(msgspec.convert(pod_of(spec), Pod))
    assert refused.value.field == field


@pytest.mark.parametrize("spec", [spec for field, spec in WRITTEN_PODS if not field])
def test_a_pod_without_a_mistake_is_accepted(spec: Json) -> None:
    ADMISSION.admitted(msgspec.convert(pod_of(spec), Pod))
