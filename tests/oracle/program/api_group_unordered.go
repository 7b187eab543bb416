//go:build k8s1.37 && !k8s1.38

package main

import (
	"context"
	"slices"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

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

func membersIn(info *framework.QueuedPodGroupInfo, leaf *framework.PodGroupInfo) []*framework.QueuedPodInfo {
	return info.QueuedPodInfos[fwk.PodGroupKey(leaf.Namespace, leaf.Name)]
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
