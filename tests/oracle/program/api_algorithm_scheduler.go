//go:build !k8s1.38

package main

import (
	"context"
	"reflect"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	_ "unsafe" // for go:linkname
)

// Up to 1.37 the scheduler itself has the algorithm and the extenders.

type preemptionCandidate = preemption.Candidate

//go:linkname prioritizeNodes k8s.io/kubernetes/pkg/scheduler.prioritizeNodes
func prioritizeNodes(context.Context, []Extender, framework.Framework, CycleState, *v1.Pod, []NodeInfo) ([]NodePluginScores, error)

//go:linkname findNodesThatPassExtenders k8s.io/kubernetes/pkg/scheduler.findNodesThatPassExtenders
func findNodesThatPassExtenders(context.Context, []Extender, *v1.Pod, []NodeInfo, *framework.NodeToStatus) ([]NodeInfo, error)

//go:linkname callExtenders k8s.io/kubernetes/pkg/scheduler/framework/preemption.(*Evaluator).callExtenders
func callExtenders(*preemption.Evaluator, klog.Logger, *v1.Pod, []preemptionCandidate) ([]preemptionCandidate, *Status)

func (c *cycle) extenders() []Extender { return c.sched.Extenders }

func (c *cycle) prioritize(state CycleState, nodes []NodeInfo) ([]NodePluginScores, error) {
	return prioritizeNodes(c.ctx, c.sched.Extenders, c.fw, state, c.pod, nodes)
}

func (c *cycle) passExtenders(nodes []NodeInfo, statuses *framework.NodeToStatus) ([]NodeInfo, error) {
	return findNodesThatPassExtenders(c.ctx, c.sched.Extenders, c.pod, nodes, statuses)
}

// nextStart is the index at which the next search for nodes begins.
func nextStart(sched *scheduler.Scheduler) reflect.Value {
	return unexported(sched, "nextStartNodeIndex")
}

// placementOptions are none: all placements of a group are tried.
func placementOptions(*config.KubeSchedulerConfiguration) []scheduler.Option { return nil }
