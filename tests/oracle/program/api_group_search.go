//go:build k8s1.36 && !k8s1.38

package main

import (
	"context"

	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	_ "unsafe" // for go:linkname
)

//go:linkname findNodesThatFitPod k8s.io/kubernetes/pkg/scheduler.(*Scheduler).findNodesThatFitPod
func findNodesThatFitPod(*scheduler.Scheduler, context.Context, framework.Framework, CycleState, *framework.QueuedPodInfo) ([]NodeInfo, framework.Diagnosis, string, error)

// scores gives the scores of the nodes that fit a member.
func (g *groupRun) scores(ctx context.Context, fw framework.Framework, state CycleState, info *framework.QueuedPodInfo) ([]NodePluginScores, error) {
	feasible, _, _, err := findNodesThatFitPod(g.sched, ctx, fw, state, info)
	if err != nil {
		return nil, err
	}
	return prioritizeNodes(ctx, nil, fw, state, info.Pod, feasible)
}

// unshuffled leaves placements in their order, which is kube-scheduler's own up to 1.37.
func (g *groupRun) unshuffled() {}
