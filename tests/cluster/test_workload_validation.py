"""What the API server refuses in workloads around their templates; tests/e2e/test_manifests.py asks a real one."""

from __future__ import annotations

import msgspec
import pytest

from kubectl_sched.cluster.refused_manifest import RefusedError
from kubectl_sched.cluster.workload_validation import check_workload
from tests.cluster.workloads import WRITTEN, Written


@pytest.mark.parametrize("written", [each for each in WRITTEN if each.field], ids=lambda each: each.id)
def test_a_mistake_is_named_by_its_field(written: Written) -> None:
    with pytest.raises(RefusedError) as refused:
        check_workload(msgspec.convert(written.body, written.kind))
    assert refused.value.field == written.field


@pytest.mark.parametrize("written", [each for each in WRITTEN if not each.field], ids=lambda each: each.id)
def test_what_is_right_is_accepted(written: Written) -> None:
    check_workload(msgspec.convert(written.body, written.kind))
