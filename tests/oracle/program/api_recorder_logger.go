//go:build k8s1.36

package main

import (
	"k8s.io/client-go/tools/events"
	"k8s.io/kubernetes/pkg/scheduler/profile"
)

// recordTo makes every profile write its events to the recorder.
func recordTo(notes *recorder) profile.RecorderFactory {
	return func(string) events.EventRecorderLogger { return notes }
}
