//go:build k8s1.36

package main

import (
	"context"

	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// schedulePod calls the scheduler's SchedulePod, which takes the queued pod since 1.36. Without a signature the pod takes
// no part in opportunistic batching.
func schedulePod(ctx context.Context, sched *scheduler.Scheduler, fw framework.Framework, state CycleState, pod *framework.QueuedPodInfo) (scheduler.ScheduleResult, error) {
	return sched.SchedulePod(ctx, fw, state, pod)
}
