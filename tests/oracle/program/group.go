//go:build k8s1.36

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	clienttesting "k8s.io/client-go/testing"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	_ "unsafe" // for go:linkname
)

//go:linkname scheduleOnePodGroup k8s.io/kubernetes/pkg/scheduler.(*Scheduler).scheduleOnePodGroup
func scheduleOnePodGroup(*scheduler.Scheduler, context.Context, *framework.QueuedPodGroupInfo)

// groupRun watches one cycle of a group. What kube-scheduler leaves to chance is decided by name: the node among those that
// tie, the order in which placements are tried, and the placement among those that tie.
type groupRun struct {
	*Cluster
	answer   *GroupResponse
	members  map[string]*GroupMember
	bindings chan [2]string
}

// scheduleGroup runs the whole cycle for the pods of a group that may enter the queue.
func (s *session) scheduleGroup(key string) *GroupResponse {
	answer := &GroupResponse{
		ID: s.request.ID, Group: key, Members: []*GroupMember{}, Gated: []string{}, Attempts: []*Attempt{},
		Placements: []PlacementView{}, Conditions: map[string]GroupCondition{}, Victims: []string{},
	}
	s.stop()
	if err := s.start(""); err != nil {
		answer.Error = err.Error()
		return answer
	}
	defer s.stop()
	run := &groupRun{Cluster: s.cluster, answer: answer, members: map[string]*GroupMember{}, bindings: make(chan [2]string, 1000)}
	run.observe()
	if err := run.schedule(key); err != nil {
		answer.Error = err.Error()
	}
	return answer
}

func (g *groupRun) observe() {
	g.onWrite = g.written
	g.unshuffled()
	schedulePod := g.sched.SchedulePod
	g.sched.SchedulePod = func(ctx context.Context, fw framework.Framework, state CycleState, info *framework.QueuedPodInfo) (scheduler.ScheduleResult, error) {
		again := state.Clone()
		result, err := schedulePod(ctx, fw, state, info)
		attempt := &Attempt{Pod: keyOf(info.Pod)}
		g.answer.Attempts = append(g.answer.Attempts, attempt)
		if err != nil {
			attempt.Message = err.Error()
			return result, err
		}
		attempt.Tied = []string{result.SuggestedHost}
		if result.FeasibleNodes > 1 {
			attempt.Tied = g.tied(ctx, fw, again, info)
			if !slices.Contains(attempt.Tied, result.SuggestedHost) {
				g.answer.Error = fmt.Sprintf("oracle: %s is not among %v", result.SuggestedHost, attempt.Tied)
			}
		}
		result.SuggestedHost = attempt.Tied[0]
		attempt.Node = result.SuggestedHost
		return result, nil
	}
	failed := g.sched.FailureHandler
	g.sched.FailureHandler = func(ctx context.Context, fw framework.Framework, info *framework.QueuedPodInfo, status *Status, nominating *fwk.NominatingInfo, start time.Time) {
		member := g.members[keyOf(info.Pod)]
		member.Code, member.Message = status.Code().String(), status.Message()
		if nominating != nil {
			member.NominatedNode = &nominating.NominatedNodeName
		}
		failed(ctx, fw, info, status, nominating, start)
	}
	for name, fw := range g.sched.Profiles {
		g.sched.Profiles[name] = &groupFramework{Framework: fw, run: g}
	}
}

// tied gives the nodes with the highest total, sorted by name.
func (g *groupRun) tied(ctx context.Context, fw framework.Framework, state CycleState, info *framework.QueuedPodInfo) []string {
	unsigned := *info
	unsigned.PodSignature = nil // the order of nodes that a signed pod would take belongs to the next member
	scores, err := g.scores(ctx, fw, state, &unsigned)
	if err != nil {
		g.answer.Error = "oracle: " + err.Error()
		return nil
	}
	best, names := int64(-1), []string{}
	for _, score := range scores {
		if score.TotalScore > best {
			best, names = score.TotalScore, nil
		}
		if score.TotalScore == best {
			names = append(names, score.Name)
		}
	}
	sort.Strings(names)
	return names
}

func (g *groupRun) schedule(key string) error {
	namespace, name, _ := strings.Cut(key, "/")
	pods := g.membersOf(namespace)
	info, err := g.pop(namespace, name, pods)
	if err != nil || info == nil {
		return err
	}
	g.writes.Store(0)
	scheduleOnePodGroup(g.sched, g.ctx, info)
	return g.awaitBindings()
}

// membersOf gives the pending pods of the one group or tree with pending pods, in the order of its cycle.
func (g *groupRun) membersOf(namespace string) []*v1.Pod {
	all, _ := g.informers.Core().V1().Pods().Lister().Pods(namespace).List(labels.Everything())
	all = slices.DeleteFunc(slices.Clone(all), func(pod *v1.Pod) bool {
		return pod.Spec.NodeName != "" || pod.Spec.SchedulingGroup == nil
	})
	slices.SortFunc(all, byQueue)
	return all
}

// byQueue compares pods in the order of the group's cycle, as far as objects tell it.
func byQueue(a, b *v1.Pod) int {
	return cmp.Or(
		cmp.Compare(corev1helpers.PodPriority(b), corev1helpers.PodPriority(a)),
		a.CreationTimestamp.Time.Compare(b.CreationTimestamp.Time),
		strings.Compare(a.Name, b.Name),
	)
}

func (g *groupRun) awaitBindings() error {
	open := 0
	for _, member := range g.answer.Members {
		if member.Message == "" && !member.Skipped {
			open++
		}
	}
	timeout := time.After(20 * time.Second)
	for ; open > 0; open-- {
		select {
		case binding := <-g.bindings:
			g.members[binding[0]].Node = binding[1]
		case <-timeout:
			return fmt.Errorf("oracle: %d bindings did not come", open)
		}
	}
	return nil
}

// written notes what the cycle writes of which the answer tells.
func (g *groupRun) written(action clienttesting.Action) {
	switch write := action.(type) {
	case clienttesting.CreateAction:
		if binding, ok := write.GetObject().(*v1.Binding); ok {
			g.bindings <- [2]string{binding.Namespace + "/" + binding.Name, binding.Target.Name}
		}
	case clienttesting.PatchAction:
		switch action.GetResource().Resource {
		case "podgroups", "compositepodgroups":
			g.patched(write)
		}
	case clienttesting.DeleteAction:
		if action.GetResource().Resource == "pods" {
			g.mutex.Lock()
			defer g.mutex.Unlock()
			g.answer.Victims = append(g.answer.Victims, action.GetNamespace()+"/"+write.GetName())
			sort.Strings(g.answer.Victims)
		}
	}
}

func (g *groupRun) patched(write clienttesting.PatchAction) {
	var patch struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	if err := json.Unmarshal(write.GetPatch(), &patch); err != nil {
		g.answer.Error = "oracle: " + err.Error()
	}
	for _, each := range patch.Status.Conditions {
		g.answer.Conditions[write.GetNamespace()+"/"+write.GetName()] = GroupCondition{
			Type: each.Type, Status: string(each.Status), Reason: each.Reason, Message: each.Message,
		}
	}
}

// groupFramework is a profile whose placements are tried and chosen in name order.
type groupFramework struct {
	framework.Framework
	run *groupRun
}

func inNameOrder(placements []*fwk.Placement) []*fwk.Placement {
	slices.SortFunc(placements, func(a, b *fwk.Placement) int { return strings.Compare(a.Name, b.Name) })
	return placements
}

func (f *groupFramework) scored(scores []fwk.PlacementPluginScores) []fwk.PlacementPluginScores {
	if len(scores) == 0 {
		return scores
	}
	slices.SortFunc(scores, func(a, b fwk.PlacementPluginScores) int { return strings.Compare(a.Placement.Name, b.Placement.Name) })
	best := scores[0]
	for _, each := range scores {
		view := PlacementView{Domain: each.Placement.Name, Total: each.TotalScore, Scores: map[string]int64{}}
		for _, score := range each.Scores {
			view.Scores[score.Name] = score.Score
		}
		f.run.answer.Placements = append(f.run.answer.Placements, view)
		if each.TotalScore > best.TotalScore {
			best = each
		}
	}
	return []fwk.PlacementPluginScores{best}
}
