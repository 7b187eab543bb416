//go:build k8s1.38

package main

import (
	"context"
	"reflect"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	_ "unsafe" // for go:linkname
)

//go:linkname findNodesThatFitPod k8s.io/kubernetes/pkg/scheduler.(*SchedulingAlgorithm).findNodesThatFitPod
func findNodesThatFitPod(*scheduler.SchedulingAlgorithm, context.Context, framework.Framework, CycleState, *framework.QueuedPodInfo) ([]framework.NodeWithRank, *framework.Diagnosis, string, error)

// scores gives the scores of the nodes that fit a member, of those alone that rank first.
func (g *groupRun) scores(ctx context.Context, fw framework.Framework, state CycleState, info *framework.QueuedPodInfo) ([]NodePluginScores, error) {
	algorithm := unexported(g.sched, "algorithm").Interface().(*scheduler.SchedulingAlgorithm)
	cycles := unexported(algorithm, "cycleProvider") // without it no search drops the order of nodes that a member left
	provider := reflect.ValueOf(cycles.Interface())
	cycles.SetZero()
	defer cycles.Set(provider)
	feasible, _, _, err := findNodesThatFitPod(algorithm, ctx, fw, state, info)
	if err != nil {
		return nil, err
	}
	return prioritizeNodes(ctx, fw, state, info.Pod, feasible)
}

// unshuffled leaves placements in their order where not all of them are tried, which 1.38 shuffles.
func (g *groupRun) unshuffled() {
	unexported(unexported(g.sched, "podGroupAlgorithm").Interface(), "shufflePlacements").SetZero()
}

// leaves gives the PodGroups of a tree in the order of its cycle, or the PodGroup itself.
func leaves(group *framework.PodGroupInfo) []*framework.PodGroupInfo {
	if group.GetType() == fwk.PodGroupKeyType {
		return []*framework.PodGroupInfo{group}
	}
	found := []*framework.PodGroupInfo{}
	for _, child := range group.Children() {
		found = append(found, leaves(child)...)
	}
	return found
}

func membersIn(info *framework.QueuedPodGroupInfo, leaf *framework.PodGroupInfo) []*framework.QueuedPodInfo {
	return info.PodInfosForGroup(leaf.GetKey())
}
