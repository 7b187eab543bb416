//go:build k8s1.34

package main

import "k8s.io/apimachinery/pkg/runtime/schema"

// resourceVersion is the version of the device API that the scheduler reads.
var resourceVersion = schema.GroupVersion{Group: "resource.k8s.io", Version: "v1"}

// likeV1 is never asked for: v1 is read as it is.
const likeV1 = "v1"
