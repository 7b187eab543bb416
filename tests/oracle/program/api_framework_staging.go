//go:build k8s1.35

package main

import (
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
)

// The names under which this Kubernetes has the framework's types. They moved to k8s.io/kube-scheduler/framework between
// 1.34 and 1.35.
type (
	CycleState       = fwk.CycleState
	Extender         = fwk.Extender
	FilterPlugin     = fwk.FilterPlugin
	NodeInfo         = fwk.NodeInfo
	NodePluginScores = fwk.NodePluginScores
	NodeScore        = fwk.NodeScore
	NodeScoreList    = fwk.NodeScoreList
	PostFilterPlugin = fwk.PostFilterPlugin
	PostFilterResult = fwk.PostFilterResult
	ScorePlugin      = fwk.ScorePlugin
	Status           = fwk.Status
)

const (
	codeError         = fwk.Error
	codeSuccess       = fwk.Success
	codeUnresolvable  = fwk.UnschedulableAndUnresolvable
	codeUnschedulable = fwk.Unschedulable
)

func skippedFilters(state CycleState) sets.Set[string] { return state.GetSkipFilterPlugins() }

func skippedScores(state CycleState) sets.Set[string] { return state.GetSkipScorePlugins() }
