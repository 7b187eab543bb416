package main

import "encoding/json"

// Request is one cluster state and what to ask about it: one JSON line of standard input.
type Request struct {
	ID           string            `json:"id"`
	Objects      []json.RawMessage `json:"objects"`
	Config       string            `json:"config"`
	FeatureGates map[string]bool   `json:"featureGates"`
	// Pods are explained one by one, each against the same state.
	Pods []string `json:"pods"`
	// Sequence is answered instead of Pods where it is set: each pod sees those placed before it.
	Sequence []Step `json:"sequence"`
	// Groups are answered after Pods and Sequence: the cycle of each PodGroup, against the same state.
	Groups []string `json:"groups"`
	// StartIndexes asks, for each of Pods, what SchedulePod finds when its search begins there, with the configuration's own
	// percentageOfNodesToScore. The search is the same each time where parallelism is 1.
	StartIndexes []int `json:"startIndexes"`
	// Queue is answered instead of Pods where it is set: what the scheduling queue holds after each step.
	Queue []QueueStep `json:"queue"`
	// Loop is answered instead of Pods where it is set: where the scheduling loop puts all pods that wait, one after the other.
	Loop bool `json:"loop"`
	// Hints is answered instead of Pods where it is set: which plugins find a change worth another attempt.
	Hints []HintQuestion `json:"hints"`
	// Extenders lets the configuration have extenders, which are then asked.
	Extenders bool `json:"extenders"`
}

// Search is one search for feasible nodes, and the node that won.
type Search struct {
	StartIndex     int    `json:"startIndex"`
	Host           string `json:"host"`
	EvaluatedNodes int    `json:"evaluatedNodes"`
	FeasibleNodes  int    `json:"feasibleNodes"`
	Error          string `json:"error,omitempty"`
}

// Step schedules one pod of a sequence and keeps it where it fits.
type Step struct {
	Pod string `json:"pod"`
	// Node is where to keep the pod; empty takes the first of the best nodes in name order.
	Node string `json:"node"`
	// Forget asks for the answer alone: the pod is not kept and its nomination is not remembered.
	Forget bool `json:"forget"`
}

// LoopStep is one cycle of the scheduling loop: the node, or the error of a pod that has none.
type LoopStep struct {
	Pod  string `json:"pod"`
	Node string `json:"node,omitempty"`
	// Single is true where SchedulePod saw one feasible node alone, as it does when it takes a hint.
	Single bool   `json:"single,omitempty"`
	Error  string `json:"error,omitempty"`
}

// Response says what kube-scheduler does with one pod: one JSON line of standard output.
type Response struct {
	ID                   string               `json:"id"`
	Pod                  string               `json:"pod"`
	SchedulerName        string               `json:"schedulerName"`
	ProfileFound         bool                 `json:"profileFound"`
	Plugins              *PluginList          `json:"plugins,omitempty"`
	Skip                 string               `json:"skip,omitempty"`
	PreEnqueue           *PreEnqueue          `json:"preEnqueue"`
	PreFilter            *Verdict             `json:"preFilter"`
	PreFilterNodes       []string             `json:"preFilterNodes"`
	SkippedFilterPlugins []string             `json:"skippedFilterPlugins"`
	SkippedScorePlugins  []string             `json:"skippedScorePlugins"`
	Nodes                map[string]*NodeView `json:"nodes"`
	Feasible             []string             `json:"feasible"`
	SingleFeasible       bool                 `json:"singleFeasible,omitempty"`
	Best                 []string             `json:"best"`
	NominatedFirst       string               `json:"nominatedFirst,omitempty"`
	SuggestedHost        string               `json:"suggestedHost,omitempty"`
	Message              string               `json:"message"`
	PostFilter           *PostFilter          `json:"postFilter"`
	FinalMessage         string               `json:"finalMessage"`
	EventMessage         string               `json:"eventMessage,omitempty"`
	Reason               string               `json:"reason,omitempty"`
	Error                string               `json:"error,omitempty"`
	ErrorNodes           int                  `json:"errorNodes,omitempty"`
	ScoreError           string               `json:"scoreError,omitempty"`
	// Searches are in the order of the request's StartIndexes.
	Searches []Search `json:"searches,omitempty"`
	// Queue is the queue after each of the request's steps.
	Queue []QueueState `json:"queue,omitempty"`
	// Loop has a step for each pod that waited, in the order in which they were popped.
	Loop []LoopStep `json:"loop,omitempty"`
	// Hints names for each of the request's questions the plugins that would have the pod tried again.
	Hints [][]string `json:"hints,omitempty"`
	// Kept says where a sequence put the pod.
	Kept *Kept `json:"kept,omitempty"`
}

// PluginList names the plugins of a profile in the order in which they run.
type PluginList struct {
	PreEnqueue []string         `json:"preEnqueue"`
	PreFilter  []string         `json:"preFilter"`
	Filter     []string         `json:"filter"`
	PostFilter []string         `json:"postFilter"`
	PreScore   []string         `json:"preScore"`
	Score      []string         `json:"score"`
	Weights    map[string]int32 `json:"weights"`
}

// PreEnqueue is the rejection that keeps a pod out of the active queue.
type PreEnqueue struct {
	Plugin  string `json:"plugin"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Verdict is a Status that is not Success.
type Verdict struct {
	Plugin  string   `json:"plugin,omitempty"`
	Code    string   `json:"code"`
	Reasons []string `json:"reasons"`
	// Absent: PreFilter's result left the node out, so that no Filter plugin looked at it.
	Absent bool `json:"absent,omitempty"`
	// PreFilter: PreFilter rejected the pod as a whole.
	PreFilter bool `json:"preFilter,omitempty"`
}

// NodeView is what the plugins say about one node.
type NodeView struct {
	Filter     *Verdict            `json:"filter"`
	AllFilters map[string]*Verdict `json:"allFilters"`
	Scores     map[string]*Score   `json:"scores,omitempty"`
	Total      *int64              `json:"total,omitempty"`
}

// Score is one plugin's score for one node, before and after NormalizeScore and the weight.
type Score struct {
	Raw        int64 `json:"raw"`
	Normalized int64 `json:"normalized"`
	Weight     int64 `json:"weight"`
	Weighted   int64 `json:"weighted"`
}

// PostFilter is what the PostFilter plugins say, and the dry run of preemption on every candidate node.
type PostFilter struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	// NominatedNode is null where the plugins leave the pod's nomination alone.
	NominatedNode *string `json:"nominatedNode"`
	// NominatedNodes are all nodes that may win the last, random tie.
	NominatedNodes []string `json:"nominatedNodes,omitempty"`
	// Victims are those on NominatedNode, sorted by name.
	Victims        []string           `json:"victims"`
	DryRun         map[string]*DryRun `json:"dryRun,omitempty"`
	PotentialNodes int                `json:"potentialNodes"`
	// RealCandidates is the number of candidates after which the plugin may stop looking.
	RealCandidates int `json:"realCandidates"`
}

// DryRun is preemption on one node: its victims, the most important first, or why there is no use.
type DryRun struct {
	Victims       []string `json:"victims,omitempty"`
	PDBViolations int64    `json:"pdbViolations"`
	Status        *Verdict `json:"status,omitempty"`
}

// Kept is where a pod of a sequence stays.
type Kept struct {
	Node      string `json:"node,omitempty"`
	Nominated string `json:"nominated,omitempty"`
	// Error is what Reserve said where a given node does not suit the pod; it is put there all the same.
	Error string `json:"error,omitempty"`
}

// GroupResponse says what the cycle of a group does: one JSON line of standard output.
type GroupResponse struct {
	ID    string `json:"id"`
	Group string `json:"group"`
	// Members are in the order of the cycle; Gated those that PreEnqueue keeps out of it.
	Members []*GroupMember `json:"members"`
	Gated   []string       `json:"gated"`
	// Attempts are all calls of SchedulePod, over placements and trials of preemption, in their order.
	Attempts []*Attempt `json:"attempts"`
	// Placements are those that were scored: several, and all of them feasible.
	Placements []PlacementView `json:"placements"`
	// Conditions are those that were written, by the namespace/name of the PodGroup.
	Conditions map[string]GroupCondition `json:"conditions"`
	Victims    []string                  `json:"victims"`
	Error      string                    `json:"error,omitempty"`
}

// GroupMember is what becomes of one pod: a node, or why it has none.
type GroupMember struct {
	Pod           string  `json:"pod"`
	Node          string  `json:"node,omitempty"`
	Code          string  `json:"code,omitempty"`
	Message       string  `json:"message,omitempty"`
	NominatedNode *string `json:"nominatedNode"`
	// Skipped: the pod is being deleted.
	Skipped bool `json:"skipped,omitempty"`
}

// Attempt is one call of SchedulePod: the first of the tied nodes is taken.
type Attempt struct {
	Pod     string   `json:"pod"`
	Node    string   `json:"node,omitempty"`
	Tied    []string `json:"tied,omitempty"`
	Message string   `json:"message,omitempty"`
}

// PlacementView is the score of one domain.
type PlacementView struct {
	Domain string           `json:"domain"`
	Total  int64            `json:"total"`
	Scores map[string]int64 `json:"scores"`
}

// GroupCondition is a condition as it is written to a PodGroup.
type GroupCondition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}
