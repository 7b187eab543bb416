"""PriorityClasses of a running API server."""

from http import HTTPStatus

from tests.e2e.api import Api, ApiError
from tests.e2e.patience import until

PRIORITY_CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
PODS = "/api/v1/namespaces/default/pods"


def priority_class(api: Api, name: str, value: int, **more: str) -> None:
    """Create one, and wait until admission knows it: it hears of it from a watch, and refuses its pods until then."""
    api.create(PRIORITY_CLASSES, {"metadata": {"name": name}, "value": value, **more})
    spec = {"containers": [{"name": "c", "image": "nginx"}], "priorityClassName": name}

    def is_known() -> bool:
        try:
            return bool(api.create(f"{PODS}?dryRun=All", {"metadata": {"name": f"of-{name}"}, "spec": spec}))
        except ApiError as error:
            if error.code != HTTPStatus.FORBIDDEN:
                raise
            return False

    until(is_known)
