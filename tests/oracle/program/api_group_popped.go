//go:build k8s1.36 && !k8s1.37

package main

import (
	"context"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// pop takes the members from the queue, as podGroupInfoForPod does in 1.36; nil where none may enter it.
func (g *groupRun) pop(namespace, name string, pods []*v1.Pod) (*framework.QueuedPodGroupInfo, error) {
	info := &framework.QueuedPodGroupInfo{PodGroupInfo: &framework.PodGroupInfo{Namespace: namespace, Name: name}}
	for _, pod := range pods {
		queued := g.sched.SchedulingQueue.PopSpecificPod(logger, pod)
		if queued == nil {
			g.answer.Gated = append(g.answer.Gated, keyOf(pod))
			continue
		}
		info.QueuedPodInfos = append(info.QueuedPodInfos, queued)
		info.UnscheduledPods = append(info.UnscheduledPods, queued.Pod)
		member := &GroupMember{Pod: keyOf(pod), Skipped: pod.DeletionTimestamp != nil}
		g.members[member.Pod] = member
		g.answer.Members = append(g.answer.Members, member)
	}
	if len(info.QueuedPodInfos) == 0 {
		return nil, nil
	}
	return info, nil
}

func (f *groupFramework) RunPlacementGeneratePlugins(ctx context.Context, state fwk.PodGroupCycleState, group fwk.PodGroupInfo, nodes []fwk.NodeInfo) ([]*fwk.Placement, *fwk.Status) {
	placements, status := f.Framework.RunPlacementGeneratePlugins(ctx, state, group, nodes)
	return inNameOrder(placements), status
}

func (f *groupFramework) RunPlacementScorePlugins(ctx context.Context, state fwk.PodGroupCycleState, group fwk.PodGroupInfo, assignments []*fwk.PodGroupAssignments) ([]fwk.PlacementPluginScores, *fwk.Status) {
	scores, status := f.Framework.RunPlacementScorePlugins(ctx, state, group, assignments)
	return f.scored(scores), status
}
