//go:build k8s1.38

package main

import (
	"context"

	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// returnToQueue hands a rejected pod back; the queue takes a context for that since 1.38.
func returnToQueue(queue *internalqueue.PriorityQueue, info *framework.QueuedPodInfo) error {
	return queue.AddUnschedulablePodIfNotPresent(context.Background(), info, queue.SchedulingCycle())
}
