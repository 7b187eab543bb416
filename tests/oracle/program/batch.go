package main

import (
	"errors"

	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// loop runs the scheduling loop over the whole queue as scheduleOne does, with opportunistic batching as the feature gates
// say: each pod is popped with its signature, scheduled, and assumed where SchedulePod puts it. A pod that fits nowhere goes
// back to the queue, and waits there.
func (s *session) loop() ([]LoopStep, error) {
	if err := s.start(""); err != nil {
		return nil, err
	}
	steps := []LoopStep{}
	queue := s.cluster.sched.SchedulingQueue.(*internalqueue.PriorityQueue)
	for range queue.PodsInActiveQ() {
		info, err := popFromQueue(queue)
		if err != nil {
			return nil, err
		}
		step, err := s.cluster.scheduleNext(info)
		if err == nil && step.Error != "" {
			err = returnToQueue(queue, info) // a nominated pod counts with its requests only while it is in the queue
		}
		if err != nil {
			return nil, err
		}
		steps = append(steps, *step)
	}
	return steps, nil
}

// scheduleNext runs the cycle of one pod and keeps it on the node that wins.
func (c *Cluster) scheduleNext(info *framework.QueuedPodInfo) (*LoopStep, error) {
	pod := info.Pod
	step := &LoopStep{Pod: keyOf(pod)}
	fw := c.sched.Profiles[pod.Spec.SchedulerName]
	if err := c.sched.Cache.UpdateSnapshot(logger, snapshotOf(c.sched)); err != nil {
		return nil, err
	}
	run := &cycle{Cluster: c, ctx: c.ctx, fw: fw, pod: pod, info: info.PodInfo, real: framework.NewCycleState()}
	result, err := schedulePod(c.ctx, c.sched, fw, run.real, info)
	if err != nil {
		step.Error = err.Error()
		run.clearNomination(err)
		return step, nil
	}
	step.Node = result.SuggestedHost
	step.Single = result.FeasibleNodes == 1
	if kept := run.assume(step.Node); kept.Error != "" {
		step.Error = kept.Error
	}
	return step, nil
}

// clearNomination runs PostFilter, which takes an earlier nomination back where preemption does not help. Pods of a loop do not
// preempt.
func (c *cycle) clearNomination(err error) {
	var fit *framework.FitError
	if !errors.As(err, &fit) || !c.fw.HasPostFilterPlugins() {
		return
	}
	result, _ := c.fw.RunPostFilterPlugins(c.ctx, c.real, c.pod, fit.Diagnosis.NodeToStatus)
	if result != nil && result.NominatingInfo != nil {
		c.nominate(result.NominatedNodeName)
	}
}
