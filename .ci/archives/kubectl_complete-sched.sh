#!/bin/sh
# What kubectl's own completion runs for `kubectl sched`.
exec kubectl-sched __complete "$@"
