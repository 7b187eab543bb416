//go:build k8s1.35

package main

import (
	"time"

	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// withRecorder gives the queue the recorder of metrics that it needs, since 1.35 by reference.
func withRecorder(stop <-chan struct{}) internalqueue.Option {
	return internalqueue.WithMetricsRecorder(metrics.NewMetricsAsyncRecorder(1000, time.Second, stop))
}
