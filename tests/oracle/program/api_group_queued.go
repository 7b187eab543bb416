//go:build k8s1.37

package main

import (
	"context"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// pop takes the group from the queue; nil where it may not enter it. When each member came to the queue is chance at the
// start of kube-scheduler: their creation stands for it.
func (g *groupRun) pop(namespace, name string, pods []*v1.Pod) (*framework.QueuedPodGroupInfo, error) {
	var info *framework.QueuedPodGroupInfo
	for len(g.sched.SchedulingQueue.PodsInActiveQ()) > 0 && info == nil {
		entity, err := g.sched.SchedulingQueue.Pop(logger)
		if err != nil {
			return nil, err
		}
		if group, ok := entity.(*framework.QueuedPodGroupInfo); ok && slices.ContainsFunc(leaves(group.PodGroupInfo), func(leaf *framework.PodGroupInfo) bool {
			return leaf.GetNamespace() == namespace && leaf.GetName() == name
		}) {
			info = group
		}
	}
	queued := map[string]bool{}
	if info != nil {
		for _, leaf := range leaves(info.PodGroupInfo) {
			members := membersIn(info, leaf)
			slices.SortFunc(members, func(a, b *framework.QueuedPodInfo) int { return byQueue(a.Pod, b.Pod) })
			for _, each := range members {
				each.Timestamp = time.Time{}
				member := &GroupMember{Pod: keyOf(each.Pod), Skipped: each.Pod.DeletionTimestamp != nil}
				queued[member.Pod] = true
				g.members[member.Pod] = member
				g.answer.Members = append(g.answer.Members, member)
			}
		}
	}
	for _, pod := range pods {
		if !queued[keyOf(pod)] {
			g.answer.Gated = append(g.answer.Gated, keyOf(pod))
		}
	}
	return info, nil
}

func (f *groupFramework) RunPlacementGeneratePlugins(ctx context.Context, state fwk.PodGroupCycleState, group fwk.PodGroupInfo, nodes []fwk.NodeInfo) ([]*fwk.Placement, *fwk.Status) {
	placements, status := f.Framework.RunPlacementGeneratePlugins(ctx, state, group, nodes)
	return inNameOrder(placements), status
}

func (f *groupFramework) RunPlacementScorePlugins(ctx context.Context, state fwk.PodGroupCycleState, group fwk.PodGroupInfo, assignments []*fwk.PodGroupAssignments, states []fwk.PlacementCycleState) ([]fwk.PlacementPluginScores, *fwk.Status) {
	scores, status := f.Framework.RunPlacementScorePlugins(ctx, state, group, assignments, states)
	return f.scored(scores), status
}
