//go:build k8s1.38

package main

import (
	"context"
	"reflect"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	_ "unsafe" // for go:linkname
)

// Since 1.38 the algorithm is apart from the scheduler, the profile has the extenders, and nodes may have a rank.

type preemptionCandidate = fwk.PreemptionCandidate

//go:linkname prioritizeNodes k8s.io/kubernetes/pkg/scheduler.prioritizeNodes
func prioritizeNodes(context.Context, framework.Framework, CycleState, *v1.Pod, []framework.NodeWithRank) ([]NodePluginScores, error)

//go:linkname findNodesThatPassExtenders k8s.io/kubernetes/pkg/scheduler.findNodesThatPassExtenders
func findNodesThatPassExtenders(context.Context, []Extender, *v1.Pod, []framework.NodeWithRank, *framework.NodeToStatus) ([]framework.NodeWithRank, error)

//go:linkname callExtenders k8s.io/kubernetes/pkg/scheduler/framework/preemption.(*Evaluator).callExtenders
func callExtenders(*preemption.Evaluator, klog.Logger, *v1.Pod, []preemptionCandidate) ([]preemptionCandidate, *Status)

func (c *cycle) extenders() []Extender { return c.fw.Extenders() }

func (c *cycle) prioritize(state CycleState, nodes []NodeInfo) ([]NodePluginScores, error) {
	return prioritizeNodes(c.ctx, c.fw, state, c.pod, unranked(nodes))
}

func (c *cycle) passExtenders(nodes []NodeInfo, statuses *framework.NodeToStatus) ([]NodeInfo, error) {
	ranked, err := findNodesThatPassExtenders(c.ctx, c.fw.Extenders(), c.pod, unranked(nodes), statuses)
	var passing []NodeInfo
	for _, node := range ranked {
		passing = append(passing, node.NodeInfo)
	}
	return passing, err
}

func unranked(nodes []NodeInfo) []framework.NodeWithRank {
	ranked := make([]framework.NodeWithRank, len(nodes))
	for i, node := range nodes {
		ranked[i] = framework.NodeWithRank{NodeInfo: node}
	}
	return ranked
}

// nextStart is the index at which the next search for nodes begins.
func nextStart(sched *scheduler.Scheduler) reflect.Value {
	return unexported(unexported(sched, "algorithm").Interface(), "nextStartNodeIndex")
}

// placementOptions are those about the placements of groups.
func placementOptions(configuration *config.KubeSchedulerConfiguration) []scheduler.Option {
	return []scheduler.Option{scheduler.WithPercentageOfPlacementsToScore(configuration.PercentageOfPlacementsToScore)}
}
