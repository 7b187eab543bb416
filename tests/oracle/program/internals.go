package main

import (
	"context"
	"fmt"
	"reflect"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/scheduler"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	_ "unsafe" // for go:linkname
)

// What kube-scheduler keeps to itself and has to be asked here: nothing of it is written again.

//go:linkname skipPodSchedule k8s.io/kubernetes/pkg/scheduler.(*Scheduler).skipPodSchedule
func skipPodSchedule(*scheduler.Scheduler, context.Context, framework.Framework, *v1.Pod) bool

//go:linkname truncateMessage k8s.io/kubernetes/pkg/scheduler.truncateMessage
func truncateMessage(string) string

// unexported gives the field of a struct that pointer points to.
func unexported(pointer any, field string) reflect.Value {
	value := reflect.ValueOf(pointer).Elem().FieldByName(field)
	if !value.IsValid() {
		panic(fmt.Sprintf("%T has no field %s in this Kubernetes", pointer, field))
	}
	return reflect.NewAt(value.Type(), unsafe.Pointer(value.UnsafeAddr())).Elem()
}

func snapshotOf(sched *scheduler.Scheduler) *internalcache.Snapshot {
	return unexported(sched, "nodeInfoSnapshot").Interface().(*internalcache.Snapshot)
}

func filterPluginsOf(fw framework.Framework) []FilterPlugin {
	return unexported(fw, "filterPlugins").Interface().([]FilterPlugin)
}

func scorePluginsOf(fw framework.Framework) []ScorePlugin {
	return unexported(fw, "scorePlugins").Interface().([]ScorePlugin)
}

func postFilterPluginsOf(fw framework.Framework) []PostFilterPlugin {
	return unexported(fw, "postFilterPlugins").Interface().([]PostFilterPlugin)
}

func informersOf(factory informers.SharedInformerFactory) map[reflect.Type]cache.SharedIndexInformer {
	return unexported(factory, "informers").Interface().(map[reflect.Type]cache.SharedIndexInformer)
}

// startButPods starts all informers except that of the pods, which is left for the next Start. A pod that comes before
// what it refers to is gated at first, and its nomination is then not taken up: at the start of kube-scheduler that is chance.
func startButPods(factory informers.SharedInformerFactory, stop <-chan struct{}) {
	known := informersOf(factory)
	kind := reflect.TypeOf(&v1.Pod{})
	pods := known[kind]
	delete(known, kind)
	factory.Start(stop)
	known[kind] = pods
}

type syncable interface{ HasSynced() bool }

// delivered says whether every informer, that of the pods only if asked, has listed its objects and every handler of it has
// seen them: those of the scheduler, which it can wait for itself, and those of its plugins, which it cannot.
func delivered(factory informers.SharedInformerFactory, pods bool) bool {
	for kind, informer := range informersOf(factory) {
		if kind == reflect.TypeOf(&v1.Pod{}) && !pods {
			continue
		}
		if !informer.HasSynced() {
			return false
		}
		listeners := unexported(unexported(untyped(informer), "processor").Interface(), "listeners")
		for entry := listeners.MapRange(); entry.Next(); {
			if !entry.Key().Interface().(syncable).HasSynced() {
				return false
			}
		}
	}
	return true
}

// untyped gives the informer within a typed one, which Kubernetes has since 1.37.
func untyped(informer cache.SharedIndexInformer) cache.SharedIndexInformer {
	inner := reflect.ValueOf(informer).Elem().FieldByName("SharedIndexInformer")
	if !inner.IsValid() {
		return informer
	}
	return inner.Interface().(cache.SharedIndexInformer)
}
