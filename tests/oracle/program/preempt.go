package main

import (
	"errors"
	"slices"
	"sort"
	"strings"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// postFilter runs the PostFilter plugins over what SchedulePod found, as the scheduler's failure handling does.
func (c *cycle) postFilter(fit *framework.FitError) {
	statuses := fit.Diagnosis.NodeToStatus
	rehearsal := c.rehearse()
	result, status := c.fw.RunPostFilterPlugins(c.ctx, c.real, c.pod, statuses)
	fit.Diagnosis.PostFilterMsg = status.Message()
	answer := &PostFilter{Code: status.Code().String(), Message: status.Message(), Victims: []string{}}
	c.response.PostFilter = answer
	if result == nil || result.NominatingInfo == nil {
		return
	}
	answer.NominatedNode = &result.NominatedNodeName
	if rehearsal == nil {
		return
	}
	answer.PotentialNodes = rehearsal.potential
	answer.RealCandidates = rehearsal.enough
	if rehearsal.potential == 0 {
		return
	}
	answer.DryRun = rehearsal.byNode
	if status.Code() != codeSuccess {
		return
	}
	answer.NominatedNodes = rehearsal.winners(c)
	if !slices.Contains(answer.NominatedNodes, result.NominatedNodeName) {
		if rehearsal.enough >= rehearsal.potential || len(answer.NominatedNodes) == 0 {
			c.mismatch("preemption nominates %s, the dry run %v", result.NominatedNodeName, answer.NominatedNodes)
			return
		}
		// The plugin stopped looking before it came to the best candidate: which one it had seen is chance.
		answer.NominatedNode = &answer.NominatedNodes[0]
	}
	answer.Victims = rehearsal.victimsOn(*answer.NominatedNode)
}

// rehearsal is preemption on every candidate node.
type rehearsal struct {
	evaluator *preemption.Evaluator
	// candidates are those that the extenders leave, with the victims that they leave.
	candidates []preemptionCandidate
	byNode     map[string]*DryRun
	potential  int
	enough     int
}

// rehearse dry-runs preemption on every candidate node; nil where the profile has no preemption. It has a cycle of its own, as
// plugins write to their state in a dry run, too: DynamicResources notes the claims that it would give up.
func (c *cycle) rehearse() *rehearsal {
	at := slices.IndexFunc(postFilterPluginsOf(c.fw), func(plugin PostFilterPlugin) bool { return plugin.Name() == defaultpreemption.Name })
	if at < 0 {
		return nil
	}
	plugin := postFilterPluginsOf(c.fw)[at].(*defaultpreemption.DefaultPreemption)
	state := framework.NewCycleState()
	var fit *framework.FitError
	_, err := schedulePod(c.ctx, c.sched, c.fw, state, &framework.QueuedPodInfo{PodInfo: c.info})
	if !errors.As(err, &fit) {
		c.mismatch("SchedulePod answers %v when it is asked again", err)
		return nil
	}
	statuses := fit.Diagnosis.NodeToStatus
	nodes, err := statuses.NodesForStatusCode(c.fw.SnapshotSharedLister().NodeInfos(), codeUnschedulable)
	if err != nil {
		c.mismatch("candidates for preemption: %v", err)
		return nil
	}
	slices.SortFunc(nodes, compareNames)
	answer := &rehearsal{evaluator: plugin.Evaluator, byNode: map[string]*DryRun{}, potential: len(nodes)}
	if len(nodes) == 0 {
		return answer
	}
	_, enough := plugin.GetOffsetAndNumCandidates(int32(len(nodes)))
	answer.enough = int(enough)
	if err := answer.run(c, state, nodes); err != nil {
		return nil // the plugin fails likewise and says so
	}
	return answer
}

func (r *rehearsal) run(c *cycle, state CycleState, nodes []NodeInfo) error {
	budgets, err := c.informers.Policy().V1().PodDisruptionBudgets().Lister().List(labels.Everything())
	if err != nil {
		return err
	}
	slices.SortFunc(budgets, func(a, b *policy.PodDisruptionBudget) int { return compareKeys(a, b) })
	candidates, statuses, err := r.evaluator.DryRunPreemption(c.ctx, state, c.pod, nodes, budgets, 0, int32(len(nodes)))
	if err != nil && len(candidates) == 0 {
		return err
	}
	statuses.ForEachExplicitNode(func(name string, status *Status) { r.byNode[name] = &DryRun{Status: verdict(status)} })
	for _, candidate := range candidates {
		victims := candidate.Victims()
		r.byNode[candidate.Name()] = &DryRun{Victims: keysOf(victims.Pods), PDBViolations: victims.NumPDBViolations}
	}
	if len(candidates) > 0 {
		left, status := callExtenders(r.evaluator, logger, c.pod, candidates)
		if !status.IsSuccess() {
			return status.AsError()
		}
		slices.SortFunc(left, func(a, b preemptionCandidate) int { return strings.Compare(a.Name(), b.Name()) })
		r.candidates = left
	}
	return nil
}

// victimsOn are the pods that leave the node, as the extenders have it.
func (r *rehearsal) victimsOn(node string) []string {
	for _, candidate := range r.candidates {
		if candidate.Name() == node {
			return slices.Sorted(slices.Values(keysOf(candidate.Victims().Pods)))
		}
	}
	return []string{}
}

func keysOf(pods []*v1.Pod) []string {
	keys := []string{}
	for _, pod := range pods {
		keys = append(keys, keyOf(pod))
	}
	return keys
}

// duels is how often two candidates are compared until chance would have shown both as winner if they are tied: the
// plugin breaks a tie by the order of a Go map, where the rarer order comes up once in eight times.
const duels = 300

// winners are the nodes that may be nominated: the winner, and all that can win when compared with it alone.
func (r *rehearsal) winners(c *cycle) []string {
	if len(r.candidates) == 0 {
		return nil
	}
	first := r.evaluator.SelectCandidate(c.ctx, r.candidates)
	names := []string{first.Name()}
	for _, rival := range r.candidates {
		if rival.Name() == first.Name() {
			continue
		}
		for range duels {
			if r.evaluator.SelectCandidate(c.ctx, []preemptionCandidate{first, rival}).Name() == rival.Name() {
				names = append(names, rival.Name())
				break
			}
		}
	}
	sort.Strings(names)
	return names
}

func compareKeys(a, b interface {
	GetNamespace() string
	GetName() string
}) int {
	return slices.Compare([]string{a.GetNamespace(), a.GetName()}, []string{b.GetNamespace(), b.GetName()})
}
