//go:build k8s1.37

package main

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"unsafe" // for go:linkname, too
)

// Since 1.37 the queue holds entities: pods and pod groups.

const backoffHeap = "entityBackoffQ"

//go:linkname flushBackoff k8s.io/kubernetes/pkg/scheduler/backend/queue.(*PriorityQueue).flushBackoffQCompleted
func flushBackoff(*internalqueue.PriorityQueue, klog.Logger)

//go:linkname flushUnschedulable k8s.io/kubernetes/pkg/scheduler/backend/queue.(*PriorityQueue).flushUnschedulableEntitiesLeftover
func flushUnschedulable(*internalqueue.PriorityQueue, klog.Logger)

func deleteFromQueue(queue *internalqueue.PriorityQueue, pod *v1.Pod) { queue.Delete(logger, pod) }

func popFromQueue(queue *internalqueue.PriorityQueue) (*framework.QueuedPodInfo, error) {
	entity, err := queue.Pop(logger)
	if err != nil {
		return nil, err
	}
	return entity.(*framework.QueuedPodInfo), nil
}

//go:linkname podWorthRequeuing k8s.io/kubernetes/pkg/scheduler/backend/queue.(*PriorityQueue).isPodWorthRequeuing
func podWorthRequeuing(*internalqueue.PriorityQueue, klog.Logger, *framework.QueuedPodInfo, ClusterEvent, any, any, unsafe.Pointer) int

func isWorthRequeuing(queue internalqueue.SchedulingQueue, pod *framework.QueuedPodInfo, event ClusterEvent, before, after any) bool {
	return podWorthRequeuing(queue.(*internalqueue.PriorityQueue), logger, pod, event, before, after, nil) > 0
}

func podChanges(after, before *v1.Pod, isTarget bool) []ClusterEvent {
	return framework.PodSchedulingPropertiesChange(after, before, isTarget)
}
