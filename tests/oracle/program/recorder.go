package main

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
)

// recorder keeps the notes of the events that the scheduler writes.
type recorder struct {
	mutex sync.Mutex
	notes []string
}

func (r *recorder) Eventf(_, _ runtime.Object, _, _, _, note string, args ...interface{}) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.notes = append(r.notes, fmt.Sprintf(note, args...))
}

func (r *recorder) WithLogger(klog.Logger) events.EventRecorderLogger { return r }

// take gives the notes since the last call.
func (r *recorder) take() []string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	notes := r.notes
	r.notes = nil
	return notes
}
