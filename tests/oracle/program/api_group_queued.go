//go:build k8s1.37 && !k8s1.38

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
			return leaf.Namespace == namespace && leaf.Name == name
		}) {
			info = group
		}
	}
	queued := map[string]bool{}
	if info != nil {
		for _, leaf := range leaves(info.PodGroupInfo) {
			members := info.QueuedPodInfos[fwk.PodGroupKey(leaf.Namespace, leaf.Name)]
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

// leaves gives the PodGroups of a tree in the order of its cycle, or the PodGroup itself.
func leaves(group *framework.PodGroupInfo) []*framework.PodGroupInfo {
	if group.CompositePodGroup == nil {
		return []*framework.PodGroupInfo{group}
	}
	found := []*framework.PodGroupInfo{}
	for _, child := range group.GetChildGroups() {
		found = append(found, leaves(child)...)
	}
	return found
}

// RunPodGroupPostFilterPlugins hands the pods of a tree to preemption in the order of the cycle; a Go map leaves the order of
// the groups to chance.
func (f *groupFramework) RunPodGroupPostFilterPlugins(ctx context.Context, state *framework.CycleState, group fwk.PodGroupInfo, schedule fwk.PodGroupSchedulingFunc) (*fwk.PodGroupPostFilterResult, *fwk.Status) {
	place := func(assignment fwk.ProposedAssignment) int {
		return slices.IndexFunc(f.run.answer.Members, func(member *GroupMember) bool { return member.Pod == keyOf(assignment.GetPod()) })
	}
	return f.Framework.RunPodGroupPostFilterPlugins(ctx, state, group, func(ctx context.Context) (*fwk.PodGroupAssignments, *fwk.Status) {
		found, status := schedule(ctx)
		if found != nil {
			slices.SortFunc(found.ProposedAssignments, func(a, b fwk.ProposedAssignment) int { return place(a) - place(b) })
		}
		return found, status
	})
}

func (f *groupFramework) RunPlacementGeneratePlugins(ctx context.Context, state fwk.PodGroupCycleState, group fwk.PodGroupInfo, nodes []fwk.NodeInfo) ([]*fwk.Placement, *fwk.Status) {
	placements, status := f.Framework.RunPlacementGeneratePlugins(ctx, state, group, nodes)
	return inNameOrder(placements), status
}

func (f *groupFramework) RunPlacementScorePlugins(ctx context.Context, state fwk.PodGroupCycleState, group fwk.PodGroupInfo, assignments []*fwk.PodGroupAssignments, states []fwk.PlacementCycleState) ([]fwk.PlacementPluginScores, *fwk.Status) {
	scores, status := f.Framework.RunPlacementScorePlugins(ctx, state, group, assignments, states)
	return f.scored(scores), status
}
