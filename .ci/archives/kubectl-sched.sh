#!/bin/sh
# Starts kubectl-sched with the first Python that this archive has wheels for; KUBECTL_SCHED_PYTHON names another.
here=$0
while [ -L "$here" ]; do
    link=$(readlink "$here")
    case $link in
    /*) here=$link ;;
    *) here=$(dirname "$here")/$link ;;
    esac
done
here=$(cd "$(dirname "$here")" && pwd -P) || exit 3

start_with() {
    python=$1
    shift
    if "$python" -I -S -c 'import sys; sys.exit("%d.%d" % sys.version_info[:2] not in "@minors@".split())' 2>/dev/null; then
        exec "$python" -I "$here/launch.py" "$@"
    fi
}

if [ -n "$KUBECTL_SCHED_PYTHON" ]; then
    start_with "$KUBECTL_SCHED_PYTHON" "$@"
else
    for name in python3 @pythons@ python; do
        start_with "$name" "$@"
    done
fi
echo "error: kubectl sched needs one of Python @minors@ in PATH, or named by KUBECTL_SCHED_PYTHON" >&2
exit 3
