package main

import (
	"maps"
	"slices"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
)

// Defaults is what this kube-scheduler does without a configuration or a feature gate.
type Defaults struct {
	Version      string                `json:"version"`
	Plugins      map[string][]Plugin   `json:"plugins"`
	PluginConfig []config.PluginConfig `json:"pluginConfig"`
	FeatureGates map[string]Gate       `json:"featureGates"`
	// Registry names every in-tree plugin, in the order of their names.
	Registry []string `json:"registry"`
}

// Plugin is one plugin of an extension point, in the order in which they run. Weight is 0 except for Score.
type Plugin struct {
	Name   string `json:"name"`
	Weight int32  `json:"weight,omitempty"`
}

// Gate is one feature gate that kube-scheduler knows.
type Gate struct {
	Default    bool   `json:"default"`
	Locked     bool   `json:"locked"`
	PreRelease string `json:"preRelease"`
}

func defaults() (*Defaults, error) {
	configuration, err := readConfig("", false)
	if err != nil {
		return nil, err
	}
	cluster, err := startCluster(nil, lookAtAllNodes(configuration))
	if err != nil {
		return nil, err
	}
	defer cluster.close()
	profile := configuration.Profiles[0]
	answer := &Defaults{
		Version:      kubernetesVersion,
		Plugins:      map[string][]Plugin{},
		PluginConfig: profile.PluginConfig,
		FeatureGates: map[string]Gate{},
	}
	resolved := cluster.sched.Profiles[profile.SchedulerName].ListPlugins()
	for point, set := range map[string]config.PluginSet{
		"preEnqueue": resolved.PreEnqueue, "queueSort": resolved.QueueSort, "preFilter": resolved.PreFilter,
		"filter": resolved.Filter, "postFilter": resolved.PostFilter, "preScore": resolved.PreScore, "score": resolved.Score,
		"reserve": resolved.Reserve, "permit": resolved.Permit, "preBind": resolved.PreBind, "bind": resolved.Bind,
		"postBind": resolved.PostBind, "multiPoint": profile.Plugins.MultiPoint,
	} {
		answer.Plugins[point] = []Plugin{}
		for _, plugin := range set.Enabled {
			answer.Plugins[point] = append(answer.Plugins[point], Plugin{plugin.Name, plugin.Weight})
		}
	}
	for name, spec := range utilfeature.DefaultMutableFeatureGate.GetAll() {
		answer.FeatureGates[string(name)] = Gate{spec.Default, spec.LockToDefault, preRelease(spec)}
	}
	answer.Registry = slices.Sorted(maps.Keys(plugins.NewInTreeRegistry()))
	return answer, nil
}

func preRelease(spec featuregate.FeatureSpec) string {
	if spec.PreRelease == featuregate.GA {
		return "GA"
	}
	return string(spec.PreRelease)
}
