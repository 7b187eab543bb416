package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	testingclock "k8s.io/utils/clock/testing"
)

// queueStart is when every queue begins, at the edge of a backoff window.
var queueStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// QueueStep is one thing that happens to the scheduling queue. Nanos pass before it.
type QueueStep struct {
	Op       string `json:"op"`
	Nanos    int64  `json:"nanos"`
	Pod      string `json:"pod"`
	Priority int32  `json:"priority"`
	Gated    bool   `json:"gated"`
	Label    string `json:"label"`
	// Rejecting and Pending are the plugins that rejected a pod in flight.
	Rejecting []string `json:"rejecting"`
	Pending   []string `json:"pending"`
	// Event is one of queueEvents; Helps names for each plugin the pods for which its hint is Queue.
	Event string              `json:"event"`
	Helps map[string][]string `json:"helps"`
}

// QueueState is what the queue holds after a step, by pod name.
type QueueState struct {
	Popped        string   `json:"popped"`
	Active        []string `json:"active"`
	Backoff       []string `json:"backoff"`
	Unschedulable []string `json:"unschedulable"`
}

var queueEvents = map[string]ClusterEvent{
	"nodeAdded": nodeAdded, "nodeLabelled": nodeLabelled, "nodeTainted": nodeTainted,
}

// queueHints says which plugin is asked about which events.
var queueHints = map[ClusterEvent][]string{
	nodeAdded: {"A", "B"}, nodeTainted: {"B"}, nodeLabelled: {"Gate"}, podLabelled: {"Own"}, gatesRemoved: {"Gate"},
}

// gate is a PreEnqueue plugin that holds pods back which have a scheduling gate, or that it has been told to.
type gate struct{ held sets.Set[string] }

func (g *gate) Name() string { return "Gate" }

func (g *gate) PreEnqueue(_ context.Context, pod *v1.Pod) *Status {
	if len(pod.Spec.SchedulingGates) > 0 || g.held.Has(pod.Name) {
		return gatedStatus()
	}
	return nil
}

// drivenQueue is the scheduler's own queue with a clock that stands still between steps.
type drivenQueue struct {
	queue    *internalqueue.PriorityQueue
	clock    *testingclock.FakeClock
	gate     *gate
	pods     map[string]*v1.Pod
	inFlight map[string]*framework.QueuedPodInfo
	made     int
}

func newDrivenQueue(stop <-chan struct{}) *drivenQueue {
	metrics.Register()
	d := &drivenQueue{
		clock:    testingclock.NewFakeClock(queueStart),
		gate:     &gate{sets.New[string]()},
		pods:     map[string]*v1.Pod{},
		inFlight: map[string]*framework.QueuedPodInfo{},
	}
	hints := internalqueue.QueueingHintMap{}
	for event, plugins := range queueHints {
		for _, plugin := range plugins {
			hints[event] = append(hints[event], &internalqueue.QueueingHintFunction{PluginName: plugin, QueueingHintFn: hintOf(plugin)})
		}
	}
	d.queue = internalqueue.NewPriorityQueue(
		(&queuesort.PrioritySort{}).Less,
		newInformerFactory(fake.NewSimpleClientset()),
		internalqueue.WithClock(d.clock),
		internalqueue.WithQueueingHintMapPerProfile(internalqueue.QueueingHintMapPerProfile{"": hints}),
		withPreEnqueue(d.gate),
		withRecorder(stop),
	)
	return d
}

// hintOf says Queue for the pods that an event's node names under the plugin, and for an update of the pod itself.
func hintOf(plugin string) func(klog.Logger, *v1.Pod, any, any) (QueueingHint, error) {
	return func(_ klog.Logger, pod *v1.Pod, _, after any) (QueueingHint, error) {
		switch object := after.(type) {
		case *v1.Node:
			if slices.Contains(namesIn(object.Annotations[plugin]), pod.Name) {
				return hintQueue, nil
			}
		case *v1.Pod:
			if object.UID == pod.UID {
				return hintQueue, nil
			}
		}
		return hintQueueSkip, nil
	}
}

func namesIn(annotation string) (names []string) {
	_ = json.Unmarshal([]byte(annotation), &names)
	return names
}

// queueStates gives what the queue holds after each step.
func queueStates(steps []QueueStep) ([]QueueState, error) {
	stop := make(chan struct{})
	defer close(stop)
	d := newDrivenQueue(stop)
	states := make([]QueueState, 0, len(steps))
	for index, step := range steps {
		d.clock.Step(time.Duration(step.Nanos))
		popped, err := d.take(step)
		if err != nil {
			return nil, fmt.Errorf("oracle: step %d (%s): %w", index, step.Op, err)
		}
		unschedulable := d.queue.UnschedulablePods()
		states = append(states, QueueState{
			popped, podNames(d.queue.PodsInActiveQ()), podNames(d.queue.PodsInBackoffQ()), podNames(unschedulable),
		})
	}
	return states, nil
}

func podNames(pods []*v1.Pod) []string {
	names := make([]string, 0, len(pods))
	for _, pod := range pods {
		names = append(names, pod.Name)
	}
	slices.Sort(names)
	return names
}

func (d *drivenQueue) take(step QueueStep) (string, error) {
	switch step.Op {
	case "add":
		d.pods[step.Pod] = d.podOf(step, types.UID(fmt.Sprintf("%s-%d", step.Pod, d.made)))
		d.made++
		addToQueue(d.queue, d.pods[step.Pod])
	case "update":
		before := d.pods[step.Pod]
		d.pods[step.Pod] = d.podOf(step, before.UID)
		updateInQueue(d.queue, before, d.pods[step.Pod])
	case "delete":
		deleteFromQueue(d.queue, d.pods[step.Pod])
		delete(d.pods, step.Pod)
	case "pop":
		return d.pop()
	case "rejected":
		return "", d.rejected(step)
	case "done":
		d.queue.Done(d.inFlight[step.Pod].Pod.UID)
		delete(d.inFlight, step.Pod)
	case "activate":
		d.queue.Activate(logger, map[string]*v1.Pod{step.Pod: d.pods[step.Pod]})
	case "hold":
		d.gate.held.Insert(step.Pod)
	case "release":
		d.gate.held.Delete(step.Pod)
	case "event":
		d.queue.MoveAllToActiveOrBackoffQueue(logger, queueEvents[step.Event], nil, nodeThatHelps(step.Helps), nil)
	case "flush":
		flushBackoff(d.queue, logger)
		flushUnschedulable(d.queue, logger)
	default:
		return "", fmt.Errorf("no such step")
	}
	return "", nil
}

func (d *drivenQueue) podOf(step QueueStep, uid types.UID) *v1.Pod {
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: step.Pod, Namespace: "default", UID: uid, Labels: map[string]string{"label": step.Label},
	}}
	pod.Spec.Priority = &step.Priority
	if step.Gated {
		pod.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "wait"}}
	}
	return pod
}

func nodeThatHelps(helps map[string][]string) *v1.Node {
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Annotations: map[string]string{}}}
	for plugin, names := range helps {
		text, _ := json.Marshal(names)
		node.Annotations[plugin] = string(text)
	}
	return node
}

// pop gives the next pod's name, empty where Pop would wait.
func (d *drivenQueue) pop() (string, error) {
	if len(d.queue.PodsInActiveQ()) == 0 && poppableFromBackoff(d.queue) == 0 {
		return "", nil
	}
	info, err := popFromQueue(d.queue)
	if err != nil {
		return "", err
	}
	d.inFlight[info.Pod.Name] = info
	return info.Pod.Name, nil
}

func (d *drivenQueue) rejected(step QueueStep) error {
	info := d.inFlight[step.Pod]
	delete(d.inFlight, step.Pod)
	info.UnschedulablePlugins = sets.New(step.Rejecting...)
	info.PendingPlugins = sets.New(step.Pending...)
	if latest := d.pods[step.Pod]; latest != nil && latest.UID == info.Pod.UID {
		if err := info.PodInfo.Update(latest); err != nil {
			return err
		}
	}
	return returnToQueue(d.queue, info)
}

// poppableFromBackoff counts the pods that Pop takes out of backoffQ when nothing is active.
func poppableFromBackoff(queue *internalqueue.PriorityQueue) int {
	if !unexported(queue, "isPopFromBackoffQEnabled").Bool() {
		return 0
	}
	return int(unexported(unexported(queue, "backoffQ").Interface(), backoffHeap).MethodByName("Len").Call(nil)[0].Int())
}
