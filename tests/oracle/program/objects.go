package main

import (
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes/scheme"
)

// clusterScoped are the kinds that kube-scheduler reads and that have no namespace.
var clusterScoped = sets.New("Node", "Namespace", "PersistentVolume", "StorageClass", "CSIDriver", "CSINode", "VolumeAttachment",
	"ResourceSlice", "DeviceClass", "DeviceTaintRule", "PriorityClass")

// decodeObjects reads the objects as they are stored: nothing is defaulted. Only what no API server would leave out is
// filled in: the namespace of a namespaced object, and a pod's schedulerName and UID, by which the scheduler tells pods
// apart.
func decodeObjects(raw []json.RawMessage) ([]runtime.Object, error) {
	objects := make([]runtime.Object, 0, len(raw))
	for i, text := range raw {
		object, err := decodeObject(text)
		if err != nil {
			return nil, fmt.Errorf("objects[%d]: %w", i, err)
		}
		if object != nil {
			objects = append(objects, object)
		}
	}
	return objects, nil
}

// decodeObject gives nil for a kind that this Kubernetes does not know.
func decodeObject(text json.RawMessage) (runtime.Object, error) {
	var kind struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := json.Unmarshal(text, &kind); err != nil {
		return nil, err
	}
	object, err := decodeKind(text, schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind))
	if runtime.IsNotRegisteredError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	metadata, err := meta.Accessor(object)
	if err != nil {
		return nil, err
	}
	if metadata.GetNamespace() == "" && !clusterScoped.Has(kind.Kind) {
		metadata.SetNamespace(v1.NamespaceDefault)
	}
	if pod, ok := object.(*v1.Pod); ok {
		identify(pod)
	}
	return object, nil
}

func identify(pod *v1.Pod) {
	if pod.UID == "" {
		pod.UID = types.UID(keyOf(pod))
	}
	if pod.Spec.SchedulerName == "" {
		pod.Spec.SchedulerName = v1.DefaultSchedulerName
	}
}

func decodeInto(text json.RawMessage, gvk schema.GroupVersionKind) (runtime.Object, error) {
	object, err := scheme.Scheme.New(gvk)
	if err != nil {
		return nil, err
	}
	return object, json.Unmarshal(text, object)
}

func keyOf(pod *v1.Pod) string { return pod.Namespace + "/" + pod.Name }

func findPod(objects []runtime.Object, key string) *v1.Pod {
	for _, object := range objects {
		if pod, ok := object.(*v1.Pod); ok && keyOf(pod) == key {
			return pod
		}
	}
	return nil
}

func finished(pod *v1.Pod) bool {
	return pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
}

// stateFor gives the objects that kube-scheduler would see with the named pod pending: the pod is taken off its node, and
// the finished pods, for which the scheduler's informer does not ask, are left out.
func stateFor(objects []runtime.Object, key string) []runtime.Object {
	state := make([]runtime.Object, 0, len(objects))
	for _, object := range objects {
		pod, ok := object.(*v1.Pod)
		switch {
		case ok && keyOf(pod) == key && isPlaced(pod):
			pod = pod.DeepCopy()
			pod.Spec.NodeName = ""
			if finished(pod) {
				pod.Status.Phase = v1.PodPending
			}
			state = append(state, pod)
		case ok && finished(pod):
		default:
			state = append(state, object)
		}
	}
	return state
}

// isPlaced says whether a pod has to be taken back before it can be explained as pending.
func isPlaced(pod *v1.Pod) bool { return pod.Spec.NodeName != "" || finished(pod) }
