//go:build k8s1.37 && !k8s1.38

package main

import (
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

func returnToQueue(queue *internalqueue.PriorityQueue, info *framework.QueuedPodInfo) error {
	return queue.AddUnschedulablePodIfNotPresent(logger, info, queue.SchedulingCycle())
}
