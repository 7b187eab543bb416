//go:build !k8s1.34

package main

import (
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// The names under which this Kubernetes has the framework's types: up to 1.33 all are in the scheduler itself.
type (
	ClusterEvent     = framework.ClusterEvent
	CycleState       = *framework.CycleState
	EventResource    = framework.EventResource
	Extender         = framework.Extender
	FilterPlugin     = framework.FilterPlugin
	NodeInfo         = *framework.NodeInfo
	NodePluginScores = framework.NodePluginScores
	NodeScore        = framework.NodeScore
	NodeScoreList    = framework.NodeScoreList
	PostFilterPlugin = framework.PostFilterPlugin
	PostFilterResult = framework.PostFilterResult
	PreEnqueuePlugin = framework.PreEnqueuePlugin
	QueueingHint     = framework.QueueingHint
	ScorePlugin      = framework.ScorePlugin
	Status           = framework.Status
)

const (
	actionAdd    = framework.Add
	actionDelete = framework.Delete
	actionUpdate = framework.Update

	hintQueue     = framework.Queue
	hintQueueSkip = framework.QueueSkip

	codeError         = framework.Error
	codeSuccess       = framework.Success
	codeUnresolvable  = framework.UnschedulableAndUnresolvable
	codeUnschedulable = framework.Unschedulable
)

var (
	nodeAdded    = ClusterEvent{Resource: framework.Node, ActionType: framework.Add}
	nodeLabelled = ClusterEvent{Resource: framework.Node, ActionType: framework.UpdateNodeLabel}
	nodeTainted  = ClusterEvent{Resource: framework.Node, ActionType: framework.UpdateNodeTaint}
	podLabelled  = ClusterEvent{Resource: framework.Pod, ActionType: framework.UpdatePodLabel}
	gatesRemoved = ClusterEvent{Resource: framework.Pod, ActionType: framework.UpdatePodSchedulingGatesEliminated}
)

func gatedStatus() *Status {
	return framework.NewStatus(framework.UnschedulableAndUnresolvable, "gated")
}

func skippedFilters(state CycleState) sets.Set[string] { return state.SkipFilterPlugins }

func skippedScores(state CycleState) sets.Set[string] { return state.SkipScorePlugins }
