package main

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// search runs SchedulePod once from each of the request's starts. Nothing is kept in between.
func (c *Cluster) search(request *Request, pod *v1.Pod) *Response {
	response := newResponse(request.ID, keyOf(pod))
	fw, found := c.sched.Profiles[pod.Spec.SchedulerName]
	if !found {
		return response
	}
	response.ProfileFound = true
	run := &cycle{Cluster: c, ctx: c.ctx, fw: fw, pod: pod, response: response}
	if err := run.start(); err != nil {
		response.Error = err.Error()
		return response
	}
	for _, index := range request.StartIndexes {
		nextStart(c.sched).SetInt(int64(index))
		result, err := schedulePod(c.ctx, c.sched, fw, framework.NewCycleState(), &framework.QueuedPodInfo{PodInfo: run.info})
		search := Search{
			StartIndex: index, Host: result.SuggestedHost,
			EvaluatedNodes: result.EvaluatedNodes, FeasibleNodes: result.FeasibleNodes,
		}
		if err != nil {
			search.Error = err.Error()
		}
		response.Searches = append(response.Searches, search)
	}
	return response
}
