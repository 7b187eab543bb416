//go:build !k8s1.38

package main

import "k8s.io/dynamic-resource-allocation/cel"

var device = cel.Device{
	Driver:                   "gpu.example.com",
	AllowMultipleAllocations: published.AllowMultipleAllocations,
	Attributes:               published.Attributes,
	Capacity:                 published.Capacity,
}
