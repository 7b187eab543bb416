//go:build k8s1.36

package main

import (
	"context"

	v1 "k8s.io/api/core/v1"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
)

// Since 1.36 the queue is given a context.

func addToQueue(queue *internalqueue.PriorityQueue, pod *v1.Pod) {
	queue.Add(context.Background(), pod)
}

func updateInQueue(queue *internalqueue.PriorityQueue, before, after *v1.Pod) {
	queue.Update(context.Background(), before, after)
}
