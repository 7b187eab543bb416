module kubectl-sched.io/karpenter-oracle

go 1.26.6
