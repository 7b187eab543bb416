//go:build !k8s1.34

package main

import "k8s.io/apimachinery/pkg/runtime/schema"

// resourceVersion is the version of the device API that the scheduler reads.
var resourceVersion = schema.GroupVersion{Group: "resource.k8s.io", Version: "v1beta1"}

// likeV1 is the version of this Kubernetes that has the shape of v1, which it does not know yet.
const likeV1 = "v1beta2"
