//go:build k8s1.34

package main

import internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"

// withPreEnqueue gives the queue its one PreEnqueue plugin; since 1.34 a profile has a map of them.
func withPreEnqueue(plugin PreEnqueuePlugin) internalqueue.Option {
	return internalqueue.WithPreEnqueuePluginMap(map[string]map[string]PreEnqueuePlugin{"": {plugin.Name(): plugin}})
}
