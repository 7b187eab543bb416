package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// HintQuestion asks which plugins, had they rejected the pod, would have it tried again after a change of one object.
type HintQuestion struct {
	Pod string          `json:"pod"`
	Old json.RawMessage `json:"old"`
	New json.RawMessage `json:"new"`
}

// hints gives for each question the plugins for which the queue finds the change worth another attempt.
func (s *session) hints(questions []HintQuestion) ([][]string, error) {
	cluster, err := startCluster(s.objects, s.configuration)
	if err != nil {
		return nil, err
	}
	s.cluster = cluster
	answers := make([][]string, 0, len(questions))
	for _, question := range questions {
		plugins, err := s.pluginsThatQueue(question)
		if err != nil {
			return nil, err
		}
		answers = append(answers, plugins)
	}
	return answers, nil
}

func (s *session) pluginsThatQueue(question HintQuestion) ([]string, error) {
	pod := findPod(s.objects, question.Pod)
	if pod == nil {
		return nil, fmt.Errorf("the request has no pod %s", question.Pod)
	}
	before, after, err := question.objects()
	if err != nil {
		return nil, err
	}
	if changed, ok := after.(*v1.Pod); ok && changed.UID == pod.UID {
		pod = changed
	}
	plugins := []string{}
	for _, plugin := range s.registering(pod.Spec.SchedulerName) {
		for _, event := range eventsOf(before, after, pod) {
			info, err := framework.NewPodInfo(pod)
			if err != nil {
				return nil, err
			}
			queued := &framework.QueuedPodInfo{PodInfo: info}
			queued.UnschedulablePlugins = sets.New(plugin)
			if isWorthRequeuing(s.cluster.sched.SchedulingQueue, queued, event, untypedNil(before), untypedNil(after)) {
				plugins = append(plugins, plugin)
				break
			}
		}
	}
	return plugins, nil
}

// registering names the plugins of a profile that have registered any event.
func (s *session) registering(profile string) []string {
	names := sets.New[string]()
	byEvent := unexported(s.cluster.sched.SchedulingQueue, "queueingHintMap").MapIndex(reflect.ValueOf(profile))
	for _, event := range byEvent.MapKeys() {
		functions := byEvent.MapIndex(event)
		for i := range functions.Len() {
			names.Insert(functions.Index(i).Elem().FieldByName("PluginName").String())
		}
	}
	return sets.List(names)
}

func (q HintQuestion) objects() (before, after runtime.Object, err error) {
	if len(q.Old) > 0 {
		if before, err = decodeObject(q.Old); err != nil {
			return nil, nil, err
		}
	}
	if len(q.New) > 0 {
		after, err = decodeObject(q.New)
	}
	return before, after, err
}

// untypedNil is nil where there is no object, as handlers get it.
func untypedNil(object runtime.Object) any {
	if object == nil {
		return nil
	}
	return object
}

// eventsOf gives the events that the scheduler's handlers make of a change.
func eventsOf(before, after runtime.Object, waiting *v1.Pod) []ClusterEvent {
	object := after
	if object == nil {
		object = before
	}
	if pod, ok := object.(*v1.Pod); ok {
		return podEvents(before, pod, after != nil, waiting)
	}
	if node, ok := after.(*v1.Node); ok && before != nil {
		return framework.NodeSchedulingPropertiesChange(node, before.(*v1.Node))
	}
	resource := resourceOf(object)
	switch {
	case before == nil:
		return []ClusterEvent{{Resource: resource, ActionType: actionAdd}}
	case after == nil:
		return []ClusterEvent{{Resource: resource, ActionType: actionDelete}}
	}
	return []ClusterEvent{{Resource: resource, ActionType: actionUpdate}}
}

func podEvents(before runtime.Object, pod *v1.Pod, stays bool, waiting *v1.Pod) []ClusterEvent {
	switch {
	case before == nil:
		return []ClusterEvent{framework.EventAssignedPodAdd}
	case !stays:
		return []ClusterEvent{framework.EventAssignedPodDelete}
	}
	return podChanges(pod, before.(*v1.Pod), pod.UID == waiting.UID)
}

// resourceOf names a kind as plugins do that register it.
func resourceOf(object runtime.Object) EventResource {
	kind := reflect.TypeOf(object).Elem().Name()
	for group, kinds := range map[string][]string{
		"storage.k8s.io/":  {"CSINode", "CSIDriver", "VolumeAttachment", "CSIStorageCapacity", "StorageClass"},
		"resource.k8s.io/": {"ResourceClaim", "ResourceSlice", "DeviceClass"},
	} {
		if slices.Contains(kinds, kind) {
			return EventResource(group + kind)
		}
	}
	return EventResource(kind)
}
