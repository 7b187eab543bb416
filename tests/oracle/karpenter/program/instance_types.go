package main

import (
	"context"
	"strconv"
	"unique"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	kwokoptions "sigs.k8s.io/karpenter/kwok/options"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/fake"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

var sources = map[string][]*cloudprovider.InstanceType{}

func (t InstanceTypes) build() []*cloudprovider.InstanceType {
	if t.Source == "" {
		return lo.Map(t.Types, func(each InstanceType, _ int) *cloudprovider.InstanceType { return each.build() })
	}
	key := t.Source + strconv.Itoa(t.Count)
	if _, ok := sources[key]; !ok {
		sources[key] = ofSource(t.Source, t.Count, "")
	}
	return sources[key]
}

func ofSource(source string, count int, path string) []*cloudprovider.InstanceType {
	switch source {
	case "kwok":
		ctx := (&kwokoptions.Options{InstanceTypesFilePath: path}).ToContext(context.Background())
		return lo.Must(kwok.ConstructInstanceTypes(ctx))
	case "assorted":
		return fake.InstanceTypesAssorted()
	}
	return fake.InstanceTypes(count)
}

func (t InstanceType) build() *cloudprovider.InstanceType {
	made := &cloudprovider.InstanceType{
		Name:         t.Name,
		Requirements: scheduling.NewNodeSelectorRequirements(t.Requirements...),
		Offerings:    lo.Map(t.Offerings, func(each Offering, _ int) *cloudprovider.Offering { return each.build() }),
		Capacity:     t.Capacity,
		Overhead:     &cloudprovider.InstanceTypeOverhead{KubeReserved: t.Overhead},
	}
	limitVolumes(made, t.VolumeLimits)
	made.DynamicResources.ResourceSliceTemplates = lo.Map(t.ResourceSlices, asTemplate)
	return made
}

func asTemplate(slice resourcev1.ResourceSliceSpec, _ int) *cloudprovider.ResourceSliceTemplate {
	return &cloudprovider.ResourceSliceTemplate{
		Driver:         unique.Make(slice.Driver),
		Pool:           cloudprovider.ResourcePool{Name: unique.Make(slice.Pool.Name)},
		SharedCounters: slice.SharedCounters,
		Devices: lo.Map(slice.Devices, func(each resourcev1.Device, _ int) cloudprovider.Device {
			return cloudprovider.Device{
				Name:                     unique.Make(each.Name),
				Attributes:               each.Attributes,
				Capacity:                 each.Capacity,
				AllowMultipleAllocations: lo.FromPtr(each.AllowMultipleAllocations),
				ConsumesCounters:         each.ConsumesCounters,
			}
		}),
	}
}

func (o Offering) build() *cloudprovider.Offering {
	return &cloudprovider.Offering{
		Requirements:        scheduling.NewNodeSelectorRequirements(o.Requirements...),
		Price:               o.Price,
		Available:           o.Available,
		ReservationCapacity: o.ReservationCapacity,
		CapacityOverride:    o.CapacityOverride,
	}
}

// dumpInstanceTypes gives Karpenter's own instance types as data: kwok [FILE], assorted, or fake COUNT.
func dumpInstanceTypes(arguments []string) []InstanceType {
	count, path := 0, ""
	if len(arguments) > 1 {
		count, _ = strconv.Atoi(arguments[1])
		path = arguments[1]
	}
	return lo.Map(ofSource(arguments[0], count, path), func(each *cloudprovider.InstanceType, _ int) InstanceType {
		return InstanceType{
			Name:         each.Name,
			Requirements: selectors(each.Requirements),
			Offerings: lo.Map(each.Offerings, func(of *cloudprovider.Offering, _ int) Offering {
				return Offering{selectors(of.Requirements), of.Price, of.Available, of.ReservationCapacity, of.CapacityOverride}
			}),
			Capacity: each.Capacity,
			Overhead: each.Overhead.Total(),
		}
	})
}

func selectors(requirements scheduling.Requirements) []corev1.NodeSelectorRequirement {
	return lo.Map(sorted(requirements.NodeSelectorRequirements()), asSelector)
}
