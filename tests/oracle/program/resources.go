package main

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	resourceinstall "k8s.io/kubernetes/pkg/apis/resource/install"
)

func init() { resourceinstall.Install(legacyscheme.Scheme) }

// decodeKind reads an object and gives it the version that the scheduler's informers ask for: the device API is the one
// that has moved through versions, and an API server converts between them.
func decodeKind(text json.RawMessage, gvk schema.GroupVersionKind) (runtime.Object, error) {
	if gvk.Group != resourceVersion.Group || gvk.Version == resourceVersion.Version || gvk.Kind == "DeviceTaintRule" {
		return decodeInto(text, gvk)
	}
	if gvk.Version == "v1" {
		gvk.Version = likeV1
	}
	if !legacyscheme.Scheme.Recognizes(gvk) {
		return decodeInto(text, gvk)
	}
	stored, err := legacyscheme.Scheme.New(gvk)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, stored); err != nil {
		return nil, err
	}
	internal, err := legacyscheme.Scheme.ConvertToVersion(stored, runtime.InternalGroupVersioner)
	if err != nil {
		return nil, err
	}
	return legacyscheme.Scheme.ConvertToVersion(internal, resourceVersion)
}
