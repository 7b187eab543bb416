//go:build !karpenter1.15

package main

import (
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/operator/options"
)

// limitVolumes does nothing: instance types limit no volumes yet.
func limitVolumes(*cloudprovider.InstanceType, map[string]int) {}

// configureScheduler does nothing: the configuration of kube-scheduler is not read yet.
func configureScheduler(*options.Options, string) error { return nil }
