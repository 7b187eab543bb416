"""Our verdicts on nodes are those of Karpenter's disruption controller on generated clusters.

python -m tests.oracle.karpenter.compare_disruption --nodes 500      the long run
"""

from collections.abc import Iterator

import pytest

from tests.oracle.build import GoMissingError
from tests.oracle.karpenter.compare_disruption import asked, disagreements
from tests.oracle.karpenter.oracle import VERSIONS, KarpenterOracle

pytestmark = pytest.mark.oracle

CLUSTERS = range(60)


@pytest.fixture(scope="module", params=VERSIONS)
def karpenter(request: pytest.FixtureRequest) -> Iterator[KarpenterOracle]:
    try:
        running = KarpenterOracle(request.param)
    except GoMissingError as missing:
        pytest.skip(str(missing))
    with running:
        yield running


@pytest.mark.parametrize("seed", CLUSTERS)
def test_every_node_has_the_verdicts_of_karpenter(karpenter: KarpenterOracle, seed: int) -> None:
    request, theirs = asked(karpenter, seed)
    assert disagreements(karpenter, {**request, "release": karpenter.version}, theirs) == {}
