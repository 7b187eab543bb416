//go:build !k8s1.37

package main

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	_ "unsafe" // for go:linkname
)

// Up to 1.36 the queue holds pods alone.

const backoffHeap = "podBackoffQ"

//go:linkname flushBackoff k8s.io/kubernetes/pkg/scheduler/backend/queue.(*PriorityQueue).flushBackoffQCompleted
func flushBackoff(*internalqueue.PriorityQueue, klog.Logger)

//go:linkname flushUnschedulable k8s.io/kubernetes/pkg/scheduler/backend/queue.(*PriorityQueue).flushUnschedulablePodsLeftover
func flushUnschedulable(*internalqueue.PriorityQueue, klog.Logger)

func deleteFromQueue(queue *internalqueue.PriorityQueue, pod *v1.Pod) { queue.Delete(pod) }

func popFromQueue(queue *internalqueue.PriorityQueue) (*framework.QueuedPodInfo, error) {
	return queue.Pop(logger)
}

func returnToQueue(queue *internalqueue.PriorityQueue, info *framework.QueuedPodInfo) error {
	return queue.AddUnschedulableIfNotPresent(logger, info, queue.SchedulingCycle())
}

//go:linkname podWorthRequeuing k8s.io/kubernetes/pkg/scheduler/backend/queue.(*PriorityQueue).isPodWorthRequeuing
func podWorthRequeuing(*internalqueue.PriorityQueue, klog.Logger, *framework.QueuedPodInfo, ClusterEvent, any, any) int

func isWorthRequeuing(queue internalqueue.SchedulingQueue, pod *framework.QueuedPodInfo, event ClusterEvent, before, after any) bool {
	return podWorthRequeuing(queue.(*internalqueue.PriorityQueue), logger, pod, event, before, after) > 0
}

func podChanges(after, before *v1.Pod, _ bool) []ClusterEvent {
	return framework.PodSchedulingPropertiesChange(after, before)
}
