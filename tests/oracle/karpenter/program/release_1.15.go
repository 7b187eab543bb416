//go:build karpenter1.15

package main

import (
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/operator/options"
)

func limitVolumes(it *cloudprovider.InstanceType, limits map[string]int) {
	it.VolumeAttachmentLimits = limits
}

func configureScheduler(given *options.Options, config string) error {
	parsed, err := options.ParseSchedulerConfiguration(config)
	given.SchedulerConfig = parsed
	return err
}
