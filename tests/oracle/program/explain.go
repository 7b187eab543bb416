package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// cycle is one scheduling cycle of one pod, taken apart.
type cycle struct {
	*Cluster
	ctx      context.Context
	fw       framework.Framework
	pod      *v1.Pod
	info     *framework.PodInfo
	nodes    []NodeInfo
	response *Response
	// real is the state of the cycle that SchedulePod itself ran.
	real CycleState
}

func newResponse(id, key string) *Response {
	return &Response{
		ID: id, Pod: key, SkippedFilterPlugins: []string{}, SkippedScorePlugins: []string{},
		Nodes: map[string]*NodeView{}, Feasible: []string{}, Best: []string{},
	}
}

// explain runs the extension points up to PostFilter for a pending pod and holds them against SchedulePod. It gives the
// cycle's state for a caller that goes on with Reserve, and nil where there was no cycle.
func (c *Cluster) explain(id string, pod *v1.Pod) (*Response, *cycle) {
	response := newResponse(id, keyOf(pod))
	response.SchedulerName = pod.Spec.SchedulerName
	fw, found := c.sched.Profiles[pod.Spec.SchedulerName]
	if !found {
		return response, nil
	}
	response.ProfileFound = true
	response.Plugins = pluginList(fw.ListPlugins())
	run := &cycle{Cluster: c, ctx: c.ctx, fw: fw, pod: pod, response: response}
	if err := run.start(); err != nil {
		response.Error = err.Error()
		return response, nil
	}
	run.preEnqueue()
	if len(run.nodes) > 0 {
		run.filterAndScore()
	}
	run.schedule()
	return response, run
}

func (c *cycle) start() error {
	c.events.take()
	if skipPodSchedule(c.sched, c.ctx, c.fw, c.pod) {
		for _, note := range c.events.take() {
			c.response.Skip = note
		}
	}
	// An unparsable affinity term is an error here, which the scheduling queue leaves aside as well.
	c.info, _ = framework.NewPodInfo(c.pod)
	if err := c.sched.Cache.UpdateSnapshot(logger, snapshotOf(c.sched)); err != nil {
		return err
	}
	nodes, err := c.fw.SnapshotSharedLister().NodeInfos().List()
	c.nodes = slices.SortedFunc(slices.Values(nodes), compareNames)
	return err
}

func pluginList(plugins *config.Plugins) *PluginList {
	names := func(set config.PluginSet) []string {
		all := []string{}
		for _, plugin := range set.Enabled {
			all = append(all, plugin.Name)
		}
		return all
	}
	list := &PluginList{
		PreEnqueue: names(plugins.PreEnqueue), PreFilter: names(plugins.PreFilter), Filter: names(plugins.Filter),
		PostFilter: names(plugins.PostFilter), PreScore: names(plugins.PreScore), Score: names(plugins.Score),
		Weights: map[string]int32{},
	}
	for _, plugin := range plugins.Score.Enabled {
		list.Weights[plugin.Name] = plugin.Weight
	}
	return list
}

func (c *cycle) preEnqueue() {
	for _, plugin := range c.fw.PreEnqueuePlugins() {
		if status := plugin.PreEnqueue(c.ctx, c.pod); !status.IsSuccess() {
			c.response.PreEnqueue = &PreEnqueue{plugin.Name(), status.Code().String(), status.Message()}
			return
		}
	}
}

func (c *cycle) filterAndScore() {
	state := framework.NewCycleState()
	result, status, narrowing := c.fw.RunPreFilterPlugins(c.ctx, state, c.pod)
	c.response.SkippedFilterPlugins = sets.List(skippedFilters(state))
	if !status.IsSuccess() {
		c.response.PreFilter = verdict(status)
		for _, node := range c.nodes {
			rejection := verdict(status)
			rejection.PreFilter = true
			c.response.Nodes[node.Node().Name] = &NodeView{Filter: rejection}
		}
		return
	}
	looked := c.nodes
	if !result.AllNodes() {
		c.response.PreFilterNodes = sets.List(result.NodeNames)
		looked = slices.DeleteFunc(slices.Clone(c.nodes), func(node NodeInfo) bool { return !result.NodeNames.Has(node.Node().Name) })
	}
	c.filterNominated(state, &looked, narrowing)
	for _, node := range c.nodes {
		reason := fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", sets.List(narrowing))
		absent := &Verdict{Code: codeUnresolvable.String(), Reasons: []string{reason}, Absent: true}
		c.response.Nodes[node.Node().Name] = &NodeView{Filter: absent}
	}
	feasible := c.extend(c.filter(state, looked))
	c.filterAlone(looked)
	if len(feasible) > 0 {
		c.score(state, feasible)
	}
}

// filterNominated adds the pod's nominated node to those that are looked at where it fails: kube-scheduler tries it first,
// whatever PreFilter's result says, keeps its verdict, and counts the plugin among those that narrowed the search.
func (c *cycle) filterNominated(state CycleState, looked *[]NodeInfo, narrowing sets.Set[string]) {
	for _, node := range c.nodes {
		if node.Node().Name != c.pod.Status.NominatedNodeName {
			continue
		}
		status := c.fw.RunFilterPluginsWithNominatedPods(c.ctx, state, c.pod, node)
		if !status.IsRejected() {
			continue
		}
		if narrowing != nil {
			narrowing.Insert(status.Plugin())
		}
		if !slices.Contains(*looked, node) {
			*looked = append(*looked, node)
		}
	}
}

// filter runs the Filter plugins on each node as kube-scheduler does, and gives the feasible nodes.
func (c *cycle) filter(state CycleState, nodes []NodeInfo) []NodeInfo {
	var feasible []NodeInfo
	for _, node := range nodes {
		view := c.response.Nodes[node.Node().Name]
		view.Filter = nil
		status := c.fw.RunFilterPluginsWithNominatedPods(c.ctx, state, c.pod, node)
		if status.IsSuccess() {
			feasible = append(feasible, node)
			c.response.Feasible = append(c.response.Feasible, node.Node().Name)
			continue
		}
		view.Filter = verdict(status)
		if status.Code() == codeError {
			c.response.ErrorNodes++
		}
	}
	c.response.SingleFeasible = len(feasible) == 1
	return feasible
}

// extend asks the extenders about the nodes that passed the filters. Their failure is reported by SchedulePod.
func (c *cycle) extend(nodes []NodeInfo) []NodeInfo {
	if len(c.extenders()) == 0 {
		return nodes
	}
	statuses := framework.NewDefaultNodeToStatus()
	passing, err := c.passExtenders(nodes, statuses)
	if err != nil {
		return nil
	}
	c.response.Feasible = []string{}
	for _, node := range passing {
		c.response.Feasible = append(c.response.Feasible, node.Node().Name)
	}
	sort.Strings(c.response.Feasible)
	for _, node := range nodes {
		if name := node.Node().Name; !slices.Contains(c.response.Feasible, name) {
			c.response.Nodes[name].Filter = verdict(statuses.Get(name))
		}
	}
	c.response.SingleFeasible = len(passing) == 1
	return passing
}

// filterAlone asks every Filter plugin about every node by itself. It has a state of its own: a plugin that kube-scheduler
// would not have asked any more must not leave a trace for scoring.
func (c *cycle) filterAlone(nodes []NodeInfo) {
	state := framework.NewCycleState()
	if _, status, _ := c.fw.RunPreFilterPlugins(c.ctx, state, c.pod); !status.IsSuccess() {
		c.mismatch("PreFilter answers %v when it is asked again", status)
		return
	}
	for _, node := range nodes {
		for _, plugin := range filterPluginsOf(c.fw) {
			if skippedFilters(state).Has(plugin.Name()) {
				continue
			}
			status := plugin.Filter(c.ctx, state, c.pod, node)
			if status.IsSuccess() {
				continue
			}
			view := c.response.Nodes[node.Node().Name]
			if view.AllFilters == nil {
				view.AllFilters = map[string]*Verdict{}
			}
			view.AllFilters[plugin.Name()] = &Verdict{Code: status.Code().String(), Reasons: reasonsOf(status)}
		}
	}
}

// schedule runs SchedulePod and, where the pod fits nowhere, the PostFilter plugins.
func (c *cycle) schedule() {
	c.real = framework.NewCycleState()
	result, err := schedulePod(c.ctx, c.sched, c.fw, c.real, &framework.QueuedPodInfo{PodInfo: c.info})
	if err == nil {
		c.response.SuggestedHost = result.SuggestedHost
		c.checkHost(result)
		return
	}
	var fit *framework.FitError
	switch {
	case errors.Is(err, scheduler.ErrNoNodesAvailable):
		c.response.Message = err.Error()
		c.response.Reason = v1.PodReasonUnschedulable
	case errors.As(err, &fit):
		c.response.Message = err.Error()
		c.response.Reason = v1.PodReasonUnschedulable
		if len(c.response.Feasible) > 0 {
			c.mismatch("SchedulePod finds no node: %v", err)
		}
		c.checkStatuses(fit)
		if c.fw.HasPostFilterPlugins() {
			c.postFilter(fit)
		}
		err = fit
	default:
		c.response.Error = "SchedulePod: " + err.Error()
		c.response.Reason = v1.PodReasonSchedulerError
		if c.response.ScoreError != "" {
			c.response.Best = []string{}
		}
	}
	c.response.FinalMessage = err.Error()
	if event := truncateMessage(c.response.FinalMessage); event != c.response.FinalMessage {
		c.response.EventMessage = event
	}
}

// checkHost holds the chosen node against the scores.
func (c *cycle) checkHost(result scheduler.ScheduleResult) {
	nominated := c.pod.Status.NominatedNodeName
	if nominated == result.SuggestedHost && result.EvaluatedNodes == 1 && result.FeasibleNodes == 1 {
		c.response.NominatedFirst = nominated
		return
	}
	if c.response.ScoreError == "" && !slices.Contains(c.response.Best, result.SuggestedHost) {
		c.mismatch("SchedulePod chooses %s, the best are %v", result.SuggestedHost, c.response.Best)
	}
}

// checkStatuses holds the verdicts against those of SchedulePod.
func (c *cycle) checkStatuses(fit *framework.FitError) {
	for name, view := range c.response.Nodes {
		real := verdict(fit.Diagnosis.NodeToStatus.Get(name))
		if view.Filter == nil || real.Code != view.Filter.Code || real.Plugin != view.Filter.Plugin ||
			!slices.Equal(real.Reasons, view.Filter.Reasons) {
			c.mismatch("SchedulePod says %+v of %s, its plugins say %+v", real, name, view.Filter)
		}
	}
}

// score scores the feasible nodes, first as kube-scheduler does, then plugin by plugin.
func (c *cycle) score(state CycleState, feasible []NodeInfo) {
	totals, err := c.prioritize(state, feasible)
	if err != nil {
		c.response.ScoreError = err.Error()
		return
	}
	c.response.SkippedScorePlugins = sets.List(skippedScores(state))
	best := int64(math.MinInt64)
	for _, total := range totals {
		c.response.Nodes[total.Name].Total = &total.TotalScore
		best = max(best, total.TotalScore)
	}
	for _, total := range totals {
		if total.TotalScore == best {
			c.response.Best = append(c.response.Best, total.Name)
		}
	}
	sort.Strings(c.response.Best)
	if !c.fw.HasScorePlugins() {
		return
	}
	for _, plugin := range scorePluginsOf(c.fw) {
		if !skippedScores(state).Has(plugin.Name()) {
			c.scoreAlone(state, plugin, feasible)
		}
	}
	for _, total := range totals {
		c.checkTotal(total)
	}
}

// scoreAlone records what one Score plugin says before and after NormalizeScore.
func (c *cycle) scoreAlone(state CycleState, plugin ScorePlugin, feasible []NodeInfo) {
	raw := make(NodeScoreList, len(feasible))
	for i, node := range feasible {
		score, status := plugin.Score(c.ctx, state, c.pod, node)
		if !status.IsSuccess() {
			c.mismatch("%s scores %s only the first time: %v", plugin.Name(), node.Node().Name, status)
			return
		}
		raw[i] = NodeScore{Name: node.Node().Name, Score: score}
	}
	normalized := slices.Clone(raw)
	if extensions := plugin.ScoreExtensions(); extensions != nil {
		if status := extensions.NormalizeScore(c.ctx, state, c.pod, normalized); !status.IsSuccess() {
			c.mismatch("%s normalizes only the first time: %v", plugin.Name(), status)
			return
		}
	}
	weight := int64(c.response.Plugins.Weights[plugin.Name()])
	for i := range raw {
		view := c.response.Nodes[raw[i].Name]
		if view.Scores == nil {
			view.Scores = map[string]*Score{}
		}
		view.Scores[plugin.Name()] = &Score{raw[i].Score, normalized[i].Score, weight, normalized[i].Score * weight}
	}
}

// checkTotal asserts that normalized x weight is what the framework itself added up. Extenders' scores are taken as they are.
func (c *cycle) checkTotal(total NodePluginScores) {
	scores := c.response.Nodes[total.Name].Scores
	for _, real := range total.Scores {
		for _, extender := range c.extenders() {
			if real.Name == extender.Name() {
				scores[real.Name] = &Score{Weighted: real.Score}
			}
		}
	}
	if len(scores) != len(total.Scores) {
		c.mismatch("%d plugins score %s, not %d", len(total.Scores), total.Name, len(scores))
	}
	for _, real := range total.Scores {
		if ours := scores[real.Name]; ours == nil || ours.Weighted != real.Score {
			c.mismatch("%s gives %s %d, not %+v", real.Name, total.Name, real.Score, ours)
		}
	}
}

// mismatch reports that the oracle and the scheduler that it drives disagree: such an answer is worth nothing.
func (c *cycle) mismatch(format string, args ...any) {
	c.response.Error = "oracle: " + fmt.Sprintf(format, args...)
}

func verdict(status *Status) *Verdict {
	return &Verdict{Plugin: status.Plugin(), Code: status.Code().String(), Reasons: reasonsOf(status)}
}

// ordered are the reasons of NodeResourcesFit that come in an order of their own; those of scalar resources follow in that
// of a Go map and are sorted here.
var ordered = sets.New("Too many pods", "Insufficient cpu", "Insufficient memory", "Insufficient ephemeral-storage")

func reasonsOf(status *Status) []string {
	reasons := slices.Clone(status.Reasons())
	if reasons == nil {
		return []string{}
	}
	if len(reasons) > 0 && strings.HasPrefix(reasons[len(reasons)-1], "Insufficient ") {
		first := slices.IndexFunc(reasons, func(reason string) bool { return !ordered.Has(reason) })
		if first >= 0 {
			sort.Strings(reasons[first:])
		}
	}
	return reasons
}

func compareNames(a, b NodeInfo) int { return strings.Compare(a.Node().Name, b.Node().Name) }
