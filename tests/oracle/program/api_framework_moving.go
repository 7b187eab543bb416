//go:build k8s1.34 && !k8s1.35

package main

import (
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// The names under which this Kubernetes has the framework's types: in 1.34 some have moved, the plugins have not.
type (
	ClusterEvent     = fwk.ClusterEvent
	CycleState       = fwk.CycleState
	EventResource    = fwk.EventResource
	Extender         = framework.Extender
	FilterPlugin     = framework.FilterPlugin
	NodeInfo         = fwk.NodeInfo
	NodePluginScores = framework.NodePluginScores
	NodeScore        = framework.NodeScore
	NodeScoreList    = framework.NodeScoreList
	PostFilterPlugin = framework.PostFilterPlugin
	PostFilterResult = framework.PostFilterResult
	PreEnqueuePlugin = framework.PreEnqueuePlugin
	QueueingHint     = fwk.QueueingHint
	ScorePlugin      = framework.ScorePlugin
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
