//go:build !k8s1.36

package main

import (
	v1 "k8s.io/api/core/v1"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
)

// Up to 1.35 the queue is given a logger.

func addToQueue(queue *internalqueue.PriorityQueue, pod *v1.Pod) { queue.Add(logger, pod) }

func updateInQueue(queue *internalqueue.PriorityQueue, before, after *v1.Pod) {
	queue.Update(logger, before, after)
}
