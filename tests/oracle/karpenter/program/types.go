package main

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// Request is a cluster, the instance types of its NodePools, and how Karpenter is configured.
type Request struct {
	ID      string            `json:"id"`
	Objects []json.RawMessage `json:"objects"`
	// InstanceTypes are by NodePool; "" stands for every NodePool that has none of its own.
	InstanceTypes      map[string]InstanceTypes `json:"instanceTypes"`
	WellKnownLabels    []string                 `json:"wellKnownLabels"`
	ReservationIDLabel string                   `json:"reservationIDLabel"`
	PreferencePolicy   string                   `json:"preferencePolicy"`
	MinValuesPolicy    string                   `json:"minValuesPolicy"`
	NoReservedCapacity bool                     `json:"noReservedCapacity"`
	NodeOverlay        bool                     `json:"nodeOverlay"`
	// AllocatesDevices is IGNORE_DRA_REQUESTS=false.
	AllocatesDevices bool `json:"allocatesDevices"`
	// SchedulerConfig is the document of --scheduler-config; since 1.15.
	SchedulerConfig string `json:"schedulerConfig"`
	// Now asks what is disrupted at that time, in place of what is provisioned.
	Now                     string `json:"now"`
	SpotToSpotConsolidation bool   `json:"spotToSpotConsolidation"`
	MaxInstanceTypes        int    `json:"maxInstanceTypes"`
	// Runs is how often to solve; the answers may differ where Karpenter iterates a map.
	Runs int `json:"runs"`
}

// InstanceTypes are Karpenter's own (source "kwok", "assorted", or "fake" with a count), or those given.
type InstanceTypes struct {
	Source string         `json:"source,omitempty"`
	Count  int            `json:"count,omitempty"`
	Types  []InstanceType `json:"types,omitempty"`
}

// InstanceType is a cloudprovider.InstanceType as data.
type InstanceType struct {
	Name         string                           `json:"name"`
	Requirements []corev1.NodeSelectorRequirement `json:"requirements"`
	Offerings    []Offering                       `json:"offerings"`
	Capacity     corev1.ResourceList              `json:"capacity"`
	Overhead     corev1.ResourceList              `json:"overhead,omitempty"`
	// VolumeLimits are the volumes that can be attached, by CSI driver; since 1.15.
	VolumeLimits map[string]int `json:"volumeLimits,omitempty"`
	// ResourceSlices are what drivers are expected to publish of a node.
	ResourceSlices []resourcev1.ResourceSliceSpec `json:"resourceSlices,omitempty"`
}

// Offering is a cloudprovider.Offering as data.
type Offering struct {
	Requirements        []corev1.NodeSelectorRequirement `json:"requirements"`
	Price               float64                          `json:"price"`
	Available           bool                             `json:"available"`
	ReservationCapacity int                              `json:"reservationCapacity,omitempty"`
	CapacityOverride    corev1.ResourceList              `json:"capacityOverride,omitempty"`
}

// Answer has one Result for each run, without repetitions.
type Answer struct {
	ID      string    `json:"id"`
	Results []*Result `json:"results,omitempty"`
	Seconds float64   `json:"seconds"`
	// Disruption is in place of Results where Now was given.
	Disruption []Disruption `json:"disruption,omitempty"`
	Error      string       `json:"error,omitempty"`
}

// Result is what Provisioner.Schedule makes of the cluster.
type Result struct {
	Claims   []Claim             `json:"claims"`
	Existing map[string][]string `json:"existing"`
	Errors   map[string]string   `json:"errors"`
	Ignored  map[string]string   `json:"ignored"`
}

// Claim is a NodeClaim to be made: before ToNodeClaim, and what that makes of it.
type Claim struct {
	NodePool         string                                    `json:"nodePool"`
	Pods             []string                                  `json:"pods"`
	InstanceTypes    []string                                  `json:"instanceTypes"`
	Requirements     []v1.NodeSelectorRequirementWithMinValues `json:"requirements"`
	Requests         corev1.ResourceList                       `json:"requests"`
	MinValuesRelaxed string                                    `json:"minValuesRelaxed"`
	NodeClaim        NodeClaim                                 `json:"nodeClaim"`
}

// NodeClaim is what would be created.
type NodeClaim struct {
	Labels       map[string]string                         `json:"labels"`
	Requirements []v1.NodeSelectorRequirementWithMinValues `json:"requirements"`
	Taints       []corev1.Taint                            `json:"taints"`
	Startup      []corev1.Taint                            `json:"startupTaints"`
}

// Disruption is what one method makes of a node as its only candidate.
type Disruption struct {
	Node string `json:"node"`
	// Reason is Empty, Drifted or Underutilized; or Expired, where Candidate says that consolidateAfter is not over.
	Reason       string        `json:"reason"`
	Candidate    bool          `json:"candidate"`
	Allowed      int           `json:"allowed"`
	Decision     string        `json:"decision"`
	Savings      float64       `json:"savings"`
	Replacements []Replacement `json:"replacements"`
	Events       []string      `json:"events"`
}

// Replacement is a NodeClaim in place of a node.
type Replacement struct {
	NodePool      string   `json:"nodePool"`
	InstanceTypes []string `json:"instanceTypes"`
	CapacityTypes []string `json:"capacityTypes"`
}
