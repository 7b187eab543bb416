package main

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/disruption"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeclaim/expiration"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/state/cost"
	disruptionutils "sigs.k8s.io/karpenter/pkg/utils/disruption"
)

// keptEvents are the events that Karpenter would have published.
type keptEvents struct {
	events []events.Event
}

func (k *keptEvents) Publish(published ...events.Event) {
	k.events = append(k.events, published...)
}

// take returns what was said about a node since the last time, each text once.
func (k *keptEvents) take(node string) []string {
	var texts []string
	for _, each := range k.events {
		if about, ok := each.InvolvedObject.(*corev1.Node); ok && about.Name == node {
			texts = append(texts, each.Reason+": "+each.Message)
		}
	}
	return lo.Uniq(texts)
}

// unchanged takes every command for valid, as nothing changes between a command and its validation here.
type unchanged struct{}

func (unchanged) Validate(_ context.Context, command disruption.Command, _ time.Duration) (disruption.Command, error) {
	return command, nil
}

// disrupt says what each of Karpenter's methods makes of each node alone, as each round of them begins.
func disrupt(request *Request, types map[string][]*cloudprovider.InstanceType) ([]Disruption, error) {
	now, err := time.Parse(time.RFC3339, request.Now)
	if err != nil {
		return nil, err
	}
	clk := clocktesting.NewFakeClock(now)
	kept := &keptEvents{}
	w, err := newWorld(request, types, clk, kept)
	if err != nil {
		return nil, err
	}
	spent := cost.NewClusterCost(w.ctx, w.cloud, w.kube)
	var claims v1.NodeClaimList
	if err := w.kube.List(w.ctx, &claims); err != nil {
		return nil, err
	}
	for i := range claims.Items {
		_ = spent.UpdateNodeClaim(w.ctx, &claims.Items[i]) // fails for a claim whose price is not known
	}
	queue := disruption.NewQueue(w.kube, kept, w.cluster, clk, w.provisioner)
	makers := []func() disruption.Method{
		func() disruption.Method {
			made := disruption.MakeConsolidation(clk, w.cluster, w.kube, w.provisioner, w.cloud, kept, queue)
			return disruption.NewEmptiness(made, disruption.WithValidator(unchanged{}))
		},
		func() disruption.Method {
			return disruption.NewDrift(w.kube, w.cluster, w.provisioner, kept, clk)
		},
		func() disruption.Method {
			made := disruption.MakeConsolidation(clk, w.cluster, w.kube, w.provisioner, w.cloud, kept, queue)
			return disruption.NewSingleNodeConsolidation(made, disruption.WithValidator(unchanged{}))
		},
	}
	var found []Disruption
	for _, maker := range makers {
		kept.events = nil
		method := maker()
		candidates, totals, err := disruption.GetCandidatesWithTotals(
			w.ctx, w.cluster, w.kube, kept, clk, w.cloud, method.ShouldDisrupt, method.Class(), queue, spent)
		if err != nil {
			return nil, err
		}
		before := map[string][]string{}
		for _, node := range w.cluster.DeepCopyNodes() {
			if node.Node != nil && node.NodeClaim != nil {
				before[node.Node.Name] = kept.take(node.Node.Name)
			}
		}
		budgets, err := disruption.BuildDisruptionBudgetMapping(
			w.ctx, w.cluster, clk, w.kube, w.cloud, kept, method.Reason())
		if err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(before)) {
			given := Disruption{Node: name, Reason: string(method.Reason()), Decision: "no-op", Events: before[name]}
			candidate, ok := lo.Find(candidates, func(each *disruption.Candidate) bool { return each.Name() == name })
			if ok {
				given.Candidate = true
				given.Allowed = budgets[candidate.NodePool.Name]
				if err := judge(w, maker(), totals, budgets, candidate, kept, &given); err != nil {
					return nil, err
				}
			}
			found = append(found, given)
		}
	}
	return append(found, expiries(w, claims.Items, now)...), nil
}

func judge(w *world, method disruption.Method, totals map[string]disruption.NodePoolTotals, budgets map[string]int,
	candidate *disruption.Candidate, kept *keptEvents, given *Disruption) error {
	if setter, ok := method.(disruption.NodePoolTotalsSetter); ok {
		setter.SetNodePoolTotals(totals)
	}
	kept.events = nil
	nodeID = 0
	commands, err := method.ComputeCommands(w.ctx, maps.Clone(budgets), candidate)
	if err != nil && !errors.Is(err, provisioning.ErrNodePoolsNotFound) {
		return err
	}
	given.Events = append(given.Events, kept.take(candidate.Name())...)
	for _, command := range commands {
		given.Decision = string(command.Decision())
		given.Savings = command.EstimatedSavings()
		for _, replacement := range command.Replacements {
			given.Replacements = append(given.Replacements, Replacement{
				NodePool:      replacement.NodePoolName,
				InstanceTypes: lo.Map(replacement.InstanceTypeOptions, func(it *cloudprovider.InstanceType, _ int) string { return it.Name }),
				CapacityTypes: slices.Sorted(slices.Values(replacement.Requirements.Get(v1.CapacityTypeLabelKey).Values())),
			})
		}
	}
	return nil
}

// expiries says which NodeClaims are deleted as expired, and which are still within consolidateAfter.
func expiries(w *world, claims []v1.NodeClaim, now time.Time) []Disruption {
	pools := v1.NodePoolList{}
	lo.Must0(w.kube.List(w.ctx, &pools))
	var found []Disruption
	for i := range claims {
		clk := clocktesting.NewFakeClock(now) // the controller moves it
		claim := &claims[i]
		pool, _ := lo.Find(pools.Items, func(each v1.NodePool) bool { return each.Name == claim.Labels[v1.NodePoolLabelKey] })
		waits := disruptionutils.IsUnderConsolidateAfter(&pool, claim, clk)
		wasDeleted := !claim.DeletionTimestamp.IsZero()
		_, _ = expiration.NewController(clk, w.kube, w.cloud).Reconcile(w.ctx, claim.DeepCopy())
		stored := &v1.NodeClaim{}
		err := w.kube.Get(w.ctx, client.ObjectKeyFromObject(claim), stored)
		isGone := client.IgnoreNotFound(err) == nil && (err != nil || !stored.DeletionTimestamp.IsZero())
		found = append(found, Disruption{
			Node:      strings.TrimPrefix(claim.Status.ProviderID, "fake://"),
			Reason:    "Expired",
			Candidate: waits,
			Decision:  lo.Ternary(isGone && !wasDeleted, "delete", "no-op"),
		})
	}
	return found
}
