//go:build !k8s1.34

package main

import internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"

// withPreEnqueue gives the queue its one PreEnqueue plugin; up to 1.33 a profile has a list of them.
func withPreEnqueue(plugin PreEnqueuePlugin) internalqueue.Option {
	return internalqueue.WithPreEnqueuePluginMap(map[string][]PreEnqueuePlugin{"": {plugin}})
}
