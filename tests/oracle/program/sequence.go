package main

import (
	"fmt"

	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// step schedules one pod of a sequence and keeps it as kube-scheduler keeps a pod whose binding is under way: assumed in
// the cache, with its volumes and devices reserved. A pod that preemption would help is nominated and stays pending, and so
// do its victims.
func (s *session) step(step Step) *Response {
	if err := s.start(""); err != nil {
		return failed(s.request.ID, step.Pod, err)
	}
	stored := findPod(s.objects, step.Pod)
	if stored == nil {
		return failed(s.request.ID, step.Pod, fmt.Errorf("the request has no pod %s", step.Pod))
	}
	pod, err := s.cluster.informers.Core().V1().Pods().Lister().Pods(stored.Namespace).Get(stored.Name)
	if err != nil {
		return failed(s.request.ID, step.Pod, err)
	}
	response, run := s.cluster.explain(s.request.ID, pod)
	if run != nil && !step.Forget {
		response.Kept = run.keep(step.Node)
	}
	return response
}

// keep puts the pod on the node, or where it is empty on the one that comes first; nil where the pod stays where it is.
func (c *cycle) keep(node string) *Kept {
	response := c.response
	if node == "" {
		switch {
		case response.Skip != "" || response.PreEnqueue != nil || response.Error != "":
			return nil
		case response.NominatedFirst != "":
			node = response.NominatedFirst
		case len(response.Best) > 0:
			node = response.Best[0]
		case len(response.Feasible) == 1:
			node = response.Feasible[0]
		case response.PostFilter != nil && response.PostFilter.NominatedNode != nil:
			return c.nominate(*response.PostFilter.NominatedNode)
		default:
			return nil
		}
	}
	return c.assume(node)
}

func (c *cycle) assume(node string) *Kept {
	kept := &Kept{Node: node}
	pod := c.pod.DeepCopy()
	pod.Spec.NodeName = node
	if err := c.sched.Cache.AssumePod(logger, pod); err != nil {
		kept.Error = err.Error()
		return kept
	}
	c.sched.SchedulingQueue.DeleteNominatedPodIfExists(pod)
	if status := c.fw.RunReservePluginsReserve(c.ctx, c.real, pod, node); !status.IsSuccess() {
		c.fw.RunReservePluginsUnreserve(c.ctx, c.real, pod, node)
		kept.Error = status.Message()
	}
	return kept
}

func (c *cycle) nominate(node string) *Kept {
	nomination := framework.NewPostFilterResultWithNominatedNode(node).NominatingInfo
	c.sched.SchedulingQueue.AddNominatedPod(logger, c.info, nomination)
	if node == "" {
		return nil // preemption does not help, and an earlier nomination is void
	}
	return &Kept{Nominated: node}
}
