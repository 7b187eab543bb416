package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/awslabs/operatorpkg/status"
	"github.com/samber/lo"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	fakeclient "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	overlays "sigs.k8s.io/karpenter/pkg/apis/v1alpha1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/fake"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/overlay"
	"sigs.k8s.io/karpenter/pkg/controllers/dynamicresources/deviceallocation"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeoverlay"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/logging"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/test/v1alpha1"
	nodeutils "sigs.k8s.io/karpenter/pkg/utils/node"
)

//go:linkname nodeID sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling.nodeID
var nodeID int64

var decoder = serializer.NewCodecFactory(scheme.Scheme).UniversalDeserializer()

// provider has the request's instance types and takes every NodePool for its own.
type provider struct {
	*fake.CloudProvider
	types map[string][]*cloudprovider.InstanceType
}

func (p *provider) GetInstanceTypes(_ context.Context, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	if own, ok := p.types[pool.Name]; ok {
		return own, nil
	}
	return p.types[""], nil
}

func (p *provider) GetSupportedNodeClasses() []status.Object {
	return []status.Object{&v1alpha1.TestNodeClass{}}
}

func solve(request *Request) (*Answer, error) {
	log.SetLogger(logging.NopLogger)
	if request.WellKnownLabels != nil {
		v1.WellKnownLabels = sets.New(request.WellKnownLabels...)
	}
	cloudprovider.ReservationIDLabel = request.ReservationIDLabel
	scheduling.MaxInstanceTypes = lo.Ternary(request.MaxInstanceTypes > 0, request.MaxInstanceTypes, 600)
	types := lo.MapValues(request.InstanceTypes, func(each InstanceTypes, _ string) []*cloudprovider.InstanceType {
		return each.build()
	})
	given := &Answer{}
	if request.Now != "" {
		found, err := disrupt(request, types)
		given.Disruption = found
		return given, err
	}
	seen := sets.New[string]()
	for range max(request.Runs, 1) {
		result, seconds, err := run(request, types)
		if err != nil {
			return nil, err
		}
		given.Seconds = seconds
		if text := string(lo.Must(json.Marshal(result))); !seen.Has(text) {
			seen.Insert(text)
			given.Results = append(given.Results, result)
		}
	}
	return given, nil
}

// world is a cluster as Karpenter knows it.
type world struct {
	ctx         context.Context
	kube        client.Client
	cloud       cloudprovider.CloudProvider
	cluster     *state.Cluster
	provisioner *provisioning.Provisioner
}

func newWorld(request *Request, types map[string][]*cloudprovider.InstanceType, clk clock.Clock, recorder events.Recorder) (*world, error) {
	ctx := log.IntoContext(injection.WithControllerName(context.Background(), "provisioner"), logging.NopLogger)
	given := karpenterOptions(request)
	if err := configureScheduler(given, request.SchedulerConfig); err != nil {
		return nil, err
	}
	ctx = options.ToContext(ctx, given)
	objects, err := decode(request.Objects)
	if err != nil {
		return nil, err
	}
	var cloud cloudprovider.CloudProvider = &provider{fake.NewCloudProvider(), types}
	kube := kubeClient(objects)
	cluster := state.NewCluster(clk, kube, cloud)
	if request.NodeOverlay {
		store := nodeoverlay.NewInstanceTypeStore()
		controller := nodeoverlay.NewController(clk, kube, cloud, store, cluster)
		if _, err := controller.Reconcile(ctx, reconcile.Request{}); err != nil {
			return nil, err
		}
		cloud = overlay.Decorate(cloud, kube, store)
	}
	if err := observe(ctx, kube, cluster); err != nil {
		return nil, err
	}
	devices := deviceallocation.NewController(kube)
	devices.Hydrate(ctx)
	return &world{ctx, kube, cloud, cluster, provisioning.NewProvisioner(kube, recorder, cloud, cluster, clk, devices, nil)}, nil
}

func run(request *Request, types map[string][]*cloudprovider.InstanceType) (*Result, float64, error) {
	w, err := newWorld(request, types, clock.RealClock{}, events.NewRecorder(&record.FakeRecorder{}))
	if err != nil {
		return nil, 0, err
	}
	result := &Result{Errors: map[string]string{}, Existing: map[string][]string{}, Ignored: map[string]string{}}
	if err := validate(w.ctx, w.kube, w.provisioner, result); err != nil {
		return nil, 0, err
	}
	nodeID = 0
	started := time.Now()
	results, err := w.provisioner.Schedule(w.ctx)
	seconds := time.Since(started).Seconds()
	if err != nil {
		return nil, 0, err
	}
	report(results, result)
	return result, seconds, nil
}

func karpenterOptions(request *Request) *options.Options {
	return &options.Options{
		CPURequests:       1000,
		PreferencePolicy:  options.PreferencePolicy(lo.CoalesceOrEmpty(request.PreferencePolicy, "Respect")),
		MinValuesPolicy:   options.MinValuesPolicy(lo.CoalesceOrEmpty(request.MinValuesPolicy, "Strict")),
		IgnoreDRARequests: !request.AllocatesDevices,
		FeatureGates: options.FeatureGates{
			ReservedCapacity:        !request.NoReservedCapacity,
			NodeOverlay:             request.NodeOverlay,
			SpotToSpotConsolidation: request.SpotToSpotConsolidation,
		},
	}
}

func decode(raw []json.RawMessage) ([]client.Object, error) {
	var objects []client.Object
	for _, each := range raw {
		object, _, err := decoder.Decode(each, nil, nil)
		if err != nil {
			return nil, err
		}
		objects = append(objects, object.(client.Object))
	}
	return objects, nil
}

func kubeClient(objects []client.Object) client.Client {
	byNode := func(object client.Object) []string { return []string{object.(*corev1.Pod).Spec.NodeName} }
	return &storedClient{fakeclient.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(objects...).
		WithStatusSubresource(&overlays.NodeOverlay{}).
		WithIndex(&corev1.Pod{}, "spec.nodeName", byNode).Build()}
}

// storedClient finds a PersistentVolume that is asked for with a namespace, as the API server and its caches do.
type storedClient struct {
	client.Client
}

func (c *storedClient) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if _, ok := object.(*corev1.PersistentVolume); ok {
		key.Namespace = ""
	}
	return c.Client.Get(ctx, key, object, options...)
}

// observe shows the cluster to Karpenter's state as its informers do.
func observe(ctx context.Context, kube client.Client, cluster *state.Cluster) error {
	var claims v1.NodeClaimList
	var nodes corev1.NodeList
	var pods corev1.PodList
	var daemons appsv1.DaemonSetList
	for _, list := range []client.ObjectList{&claims, &nodes, &pods, &daemons} {
		if err := kube.List(ctx, list); err != nil {
			return err
		}
	}
	for i := range claims.Items {
		cluster.UpdateNodeClaim(&claims.Items[i])
	}
	for i := range nodes.Items {
		if err := cluster.UpdateNode(ctx, &nodes.Items[i]); err != nil {
			return err
		}
	}
	for i := range pods.Items {
		_ = cluster.UpdatePod(ctx, &pods.Items[i]) // fails for a pod whose node is gone
	}
	for i := range daemons.Items {
		if err := cluster.UpdateDaemonSet(ctx, &daemons.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

// validate says why Karpenter does not look at a pending pod.
func validate(ctx context.Context, kube client.Client, provisioner *provisioning.Provisioner, result *Result) error {
	pods, err := nodeutils.GetProvisionablePods(ctx, kube)
	if err != nil {
		return err
	}
	for _, pod := range pods {
		if err := provisioner.Validate(ctx, pod); err != nil {
			result.Ignored[key(pod)] = err.Error()
		}
	}
	return nil
}

func report(results scheduling.Results, result *Result) {
	for _, claim := range results.NewNodeClaims {
		result.Claims = append(result.Claims, reportClaim(claim))
	}
	for _, node := range results.ExistingNodes {
		if len(node.Pods) > 0 {
			result.Existing[node.Name()] = keys(node.Pods)
		}
	}
	for pod, err := range results.PodErrors {
		result.Errors[key(pod)] = err.Error()
	}
}

func reportClaim(claim *scheduling.NodeClaim) Claim {
	given := Claim{
		NodePool:         claim.NodePoolName,
		Pods:             keys(claim.Pods),
		InstanceTypes:    lo.Map(claim.InstanceTypeOptions, func(it *cloudprovider.InstanceType, _ int) string { return it.Name }),
		Requirements:     sorted(claim.Requirements.NodeSelectorRequirements()),
		Requests:         claim.Spec.Resources.Requests,
		MinValuesRelaxed: claim.Annotations[v1.NodeClaimMinValuesRelaxedAnnotationKey],
	}
	made := claim.ToNodeClaim()
	given.NodeClaim = NodeClaim{made.Labels, sorted(made.Spec.Requirements), made.Spec.Taints, made.Spec.StartupTaints}
	return given
}

func sorted(requirements []v1.NodeSelectorRequirementWithMinValues) []v1.NodeSelectorRequirementWithMinValues {
	slices.SortFunc(requirements, func(a, b v1.NodeSelectorRequirementWithMinValues) int {
		return strings.Compare(a.Key+" "+string(a.Operator), b.Key+" "+string(b.Operator))
	})
	for _, each := range requirements {
		sort.Strings(each.Values)
	}
	return requirements
}

func asSelector(each v1.NodeSelectorRequirementWithMinValues, _ int) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: each.Key, Operator: each.Operator, Values: each.Values}
}

func keys(pods []*corev1.Pod) []string {
	return lo.Map(pods, func(pod *corev1.Pod, _ int) string { return key(pod) })
}

func key(pod *corev1.Pod) string {
	return fmt.Sprintf("%s/%s", pod.Namespace, pod.Name)
}
