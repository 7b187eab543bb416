package main

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
)

// Cluster is a kube-scheduler over a fixed set of objects.
type Cluster struct {
	ctx       context.Context
	stop      context.CancelFunc
	sched     *scheduler.Scheduler
	informers informers.SharedInformerFactory
	events    *recorder
	// writes counts what the scheduler wanted to change; nothing of it reaches the objects.
	writes atomic.Int64
	// onWrite is told of each of them where it is set.
	onWrite func(clienttesting.Action)
	mutex   sync.Mutex
}

// allNodes makes kube-scheduler look at every node, however many there are.
var allNodes int32 = 100

// readConfig reads and checks a KubeSchedulerConfiguration as kube-scheduler does; empty text gives the defaults.
func readConfig(text string, extenders bool) (*config.KubeSchedulerConfiguration, error) {
	if text == "" {
		return latest.Default()
	}
	file, err := os.CreateTemp("", "kube-scheduler-*.yaml")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	if _, err := file.WriteString(text); err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	configuration, err := options.LoadConfigFromFile(klog.Background(), file.Name())
	if err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	if err := validation.ValidateKubeSchedulerConfiguration(configuration); err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	if len(configuration.Extenders) > 0 && !extenders {
		return nil, fmt.Errorf("extenders are outside what is replayed")
	}
	return configuration, nil
}

// lookAtAllNodes gives the configuration without sampling.
func lookAtAllNodes(configuration *config.KubeSchedulerConfiguration) *config.KubeSchedulerConfiguration {
	configuration = configuration.DeepCopy()
	configuration.PercentageOfNodesToScore = &allNodes
	for i := range configuration.Profiles {
		configuration.Profiles[i].PercentageOfNodesToScore = &allNodes
	}
	return configuration
}

// startCluster runs kube-scheduler's own start-up over the objects and waits until it has seen them all.
func startCluster(objects []runtime.Object, configuration *config.KubeSchedulerConfiguration) (*Cluster, error) {
	ctx, stop := context.WithCancel(klog.NewContext(context.Background(), logger))
	cluster := &Cluster{ctx: ctx, stop: stop, events: &recorder{}}
	client := fake.NewSimpleClientset(objects...)
	client.PrependReactor("list", "*", inOrderOf(objects, client.Tracker()))
	client.PrependReactor("*", "*", cluster.refuseWrites)
	cluster.informers = newInformerFactory(client)

	sched, err := scheduler.New(ctx, client, cluster.informers, nil,
		recordTo(cluster.events),
		append(placementOptions(configuration),
			scheduler.WithComponentConfigVersion(configuration.APIVersion),
			scheduler.WithProfiles(configuration.Profiles...),
			scheduler.WithPercentageOfNodesToScore(configuration.PercentageOfNodesToScore),
			scheduler.WithParallelism(configuration.Parallelism),
			scheduler.WithExtenders(configuration.Extenders...),
			scheduler.WithPodInitialBackoffSeconds(configuration.PodInitialBackoffSeconds),
			scheduler.WithPodMaxBackoffSeconds(configuration.PodMaxBackoffSeconds),
		)...,
	)
	if err != nil {
		stop()
		return nil, fmt.Errorf("scheduler.New: %w", err)
	}
	cluster.sched = sched
	startButPods(cluster.informers, ctx.Done())
	if err := cluster.await(false); err != nil {
		return nil, err
	}
	cluster.informers.Start(ctx.Done())
	if err := cluster.await(true); err != nil {
		return nil, err
	}
	return cluster, nil
}

func (c *Cluster) await(pods bool) error {
	for deadline := time.Now().Add(time.Minute); !delivered(c.informers, pods); time.Sleep(200 * time.Microsecond) {
		if time.Now().After(deadline) {
			c.close()
			return fmt.Errorf("the informers did not deliver the objects within a minute")
		}
	}
	return nil
}

// close ends the scheduler and its informers.
func (c *Cluster) close() {
	c.sched.SchedulingQueue.Close()
	_ = c.sched.Profiles.Close()
	c.stop()
}

// inOrderOf lists objects in the order in which the request has them. It shows: kube-scheduler takes an image's size from
// the first node that lists it, and of pods that are equally important the first one seen.
func inOrderOf(objects []runtime.Object, tracker clienttesting.ObjectTracker) clienttesting.ReactionFunc {
	stored := clienttesting.ObjectReaction(tracker)
	positions := map[identity]int{}
	for i, object := range objects {
		positions[identityOf(object)] = i
	}
	return func(action clienttesting.Action) (bool, runtime.Object, error) {
		handled, list, err := stored(action)
		if err != nil || list == nil {
			return handled, list, err
		}
		items, err := meta.ExtractList(list)
		if err != nil {
			return true, nil, err
		}
		slices.SortFunc(items, func(a, b runtime.Object) int { return positions[identityOf(a)] - positions[identityOf(b)] })
		return true, list, meta.SetList(list, items)
	}
}

type identity struct {
	kind            reflect.Type
	namespace, name string
}

func identityOf(object runtime.Object) identity {
	metadata, err := meta.Accessor(object)
	if err != nil {
		panic(err)
	}
	return identity{reflect.TypeOf(object), metadata.GetNamespace(), metadata.GetName()}
}

// refuseWrites answers every write as if it had been done, and leaves the objects as they are.
func (c *Cluster) refuseWrites(action clienttesting.Action) (bool, runtime.Object, error) {
	switch action.GetVerb() {
	case "get", "list", "watch":
		return false, nil, nil
	}
	c.writes.Add(1)
	if c.onWrite != nil {
		c.onWrite(action)
	}
	switch write := action.(type) {
	case clienttesting.CreateAction: // also updates: both carry the object
		return true, write.GetObject(), nil
	}
	return true, nil, nil
}
