//go:build k8s1.35

package main

import (
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
)

// The names under which this Kubernetes has the framework's types. They moved to k8s.io/kube-scheduler/framework between
// 1.34 and 1.35.
type (
	ClusterEvent     = fwk.ClusterEvent
	CycleState       = fwk.CycleState
	EventResource    = fwk.EventResource
	Extender         = fwk.Extender
	FilterPlugin     = fwk.FilterPlugin
	NodeInfo         = fwk.NodeInfo
	NodePluginScores = fwk.NodePluginScores
	NodeScore        = fwk.NodeScore
	NodeScoreList    = fwk.NodeScoreList
	PostFilterPlugin = fwk.PostFilterPlugin
	PostFilterResult = fwk.PostFilterResult
	PreEnqueuePlugin = fwk.PreEnqueuePlugin
	QueueingHint     = fwk.QueueingHint
	ScorePlugin      = fwk.ScorePlugin
	Status           = fwk.Status
)

const (
	actionAdd    = fwk.Add
	actionDelete = fwk.Delete
	actionUpdate = fwk.Update

	hintQueue     = fwk.Queue
	hintQueueSkip = fwk.QueueSkip

	codeError         = fwk.Error
	codeSuccess       = fwk.Success
	codeUnresolvable  = fwk.UnschedulableAndUnresolvable
	codeUnschedulable = fwk.Unschedulable
)

var (
	nodeAdded    = ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}
	nodeLabelled = ClusterEvent{Resource: fwk.Node, ActionType: fwk.UpdateNodeLabel}
	nodeTainted  = ClusterEvent{Resource: fwk.Node, ActionType: fwk.UpdateNodeTaint}
	podLabelled  = ClusterEvent{Resource: fwk.Pod, ActionType: fwk.UpdatePodLabel}
	gatesRemoved = ClusterEvent{Resource: fwk.Pod, ActionType: fwk.UpdatePodSchedulingGatesEliminated}
)

func gatedStatus() *Status { return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "gated") }

func skippedFilters(state CycleState) sets.Set[string] { return state.GetSkipFilterPlugins() }

func skippedScores(state CycleState) sets.Set[string] { return state.GetSkipScorePlugins() }
