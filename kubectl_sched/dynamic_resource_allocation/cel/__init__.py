"""The Common Expression Language, as far as device selectors use it (k8s.io/dynamic-resource-allocation/cel, cel-go).

What an expression answers is part of the scheduler's own texts: its compile errors, its run-time errors and its cost
limit end in FailedScheduling events. So this follows cel-go word by word, and is imported only where a selector is.
"""

from kubectl_sched.dynamic_resource_allocation.cel.cost import COST_LIMIT
from kubectl_sched.dynamic_resource_allocation.cel.dialect import CelGo, Dialect
from kubectl_sched.dynamic_resource_allocation.cel.program import Program, compile_expression
from kubectl_sched.dynamic_resource_allocation.cel.values import CelError, CompileError, Semver

__all__ = ["COST_LIMIT", "CelError", "CelGo", "CompileError", "Dialect", "Program", "Semver", "compile_expression"]
