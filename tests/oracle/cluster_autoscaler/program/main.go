// Prints the status ConfigMap that cluster-autoscaler (1.30 and later) writes for the status on standard input, as JSON.
package main

import (
	"encoding/json"
	"os"
	"time"

	"k8s.io/autoscaler/cluster-autoscaler/clusterstate/api"
	"k8s.io/autoscaler/cluster-autoscaler/clusterstate/utils"
	"k8s.io/client-go/kubernetes/fake"
)

func main() {
	var status api.ClusterAutoscalerStatus
	if err := json.NewDecoder(os.Stdin).Decode(&status); err != nil {
		panic(err)
	}
	written, err := utils.WriteStatusConfigMap(
		fake.NewSimpleClientset(), "kube-system", status, nil, "cluster-autoscaler-status", time.Unix(1_780_000_000, 0).UTC())
	if err != nil {
		panic(err)
	}
	written.APIVersion, written.Kind = "v1", "ConfigMap"
	if err := json.NewEncoder(os.Stdout).Encode(written); err != nil {
		panic(err)
	}
}
