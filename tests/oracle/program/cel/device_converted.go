//go:build k8s1.38

package main

import (
	resourceapi "k8s.io/api/resource/v1"
	draapi "k8s.io/dynamic-resource-allocation/api"
	"k8s.io/dynamic-resource-allocation/cel"
)

var device = converted()

func converted() cel.Device {
	of := resourceapi.ResourceSlice{
		Spec: resourceapi.ResourceSliceSpec{Driver: "gpu.example.com", Devices: []resourceapi.Device{published}},
	}
	var slice draapi.ResourceSlice
	if err := draapi.Convert_v1_ResourceSlice_To_api_ResourceSlice(&of, &slice, nil); err != nil {
		panic(err)
	}
	one := slice.Spec.Devices[0]
	return cel.Device{
		Driver:                   "gpu.example.com",
		AllowMultipleAllocations: one.AllowMultipleAllocations,
		Attributes:               one.Attributes,
		Capacity:                 one.Capacity,
		LookupUniqueString:       slice.LookupUniqueString,
	}
}
