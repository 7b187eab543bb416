package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
)

// ungated are the feature gates as kube-scheduler starts with them.
var ungated = utilfeature.DefaultMutableFeatureGate.DeepCopy()

// serve answers requests until the input ends, one line for each pod and each step of a sequence.
func serve(input io.Reader, output *bufio.Writer, encoder *json.Encoder) error {
	lines := bufio.NewReaderSize(input, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 1 {
			if err := answer(line, func(response any) error {
				if err := encoder.Encode(response); err != nil {
					return err
				}
				return output.Flush()
			}); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func answer(line []byte, write func(any) error) error {
	var request Request
	if err := json.Unmarshal(line, &request); err != nil {
		return fmt.Errorf("a request is not JSON: %w", err)
	}
	session := &session{request: &request}
	err := session.prepare()
	defer session.stop()
	if len(request.Queue) > 0 {
		response := newResponse(request.ID, "")
		if err == nil {
			response.Queue, err = queueStates(request.Queue)
		}
		if err != nil {
			response.Error = err.Error()
		}
		return write(response)
	}
	if request.Loop {
		response := newResponse(request.ID, "")
		if err == nil {
			response.Loop, err = session.loop()
		}
		if err != nil {
			response.Error = err.Error()
		}
		return write(response)
	}
	if len(request.Hints) > 0 {
		response := newResponse(request.ID, "")
		if err == nil {
			response.Hints, err = session.hints(request.Hints)
		}
		if err != nil {
			response.Error = err.Error()
		}
		return write(response)
	}
	for _, key := range request.Pods {
		response := newResponse(request.ID, key)
		if err == nil {
			response = session.explain(key)
		} else {
			response.Error = err.Error()
		}
		if err := write(response); err != nil {
			return err
		}
	}
	for _, step := range request.Sequence {
		response := newResponse(request.ID, step.Pod)
		if err == nil {
			response = session.step(step)
		} else {
			response.Error = err.Error()
		}
		if err := write(response); err != nil {
			return err
		}
	}
	for _, key := range request.Groups {
		response := &GroupResponse{ID: request.ID, Group: key}
		if err == nil {
			response = session.scheduleGroup(key)
		} else {
			response.Error = err.Error()
		}
		if err := write(response); err != nil {
			return err
		}
	}
	return nil
}

// session answers one request.
type session struct {
	request       *Request
	objects       []runtime.Object
	configuration *config.KubeSchedulerConfiguration
	cluster       *Cluster
}

func (s *session) prepare() error {
	gates := ungated.DeepCopy()
	utilfeature.DefaultMutableFeatureGate, utilfeature.DefaultFeatureGate = gates, gates
	if err := gates.SetFromMap(s.request.FeatureGates); err != nil {
		return fmt.Errorf("config: %w", err)
	}
	var err error
	if s.configuration, err = readConfig(s.request.Config, s.request.Extenders); err != nil {
		return err
	}
	if len(s.request.StartIndexes) == 0 {
		s.configuration = lookAtAllNodes(s.configuration)
	}
	s.objects, err = decodeObjects(s.request.Objects)
	return err
}

func (s *session) stop() {
	if s.cluster != nil {
		s.cluster.close()
		s.cluster = nil
	}
}

// explain answers for one pod against the request's state, whatever was asked before.
func (s *session) explain(key string) *Response {
	pod := findPod(s.objects, key)
	if pod == nil {
		return failed(s.request.ID, key, fmt.Errorf("the request has no pod %s", key))
	}
	if isPlaced(pod) {
		s.stop()
	}
	if err := s.start(key); err != nil {
		return failed(s.request.ID, key, err)
	}
	pod, err := s.cluster.informers.Core().V1().Pods().Lister().Pods(pod.Namespace).Get(pod.Name)
	if err != nil {
		return failed(s.request.ID, key, err)
	}
	if len(s.request.StartIndexes) > 0 {
		return s.cluster.search(s.request, pod)
	}
	response, _ := s.cluster.explain(s.request.ID, pod)
	if response.PostFilter != nil && response.PostFilter.Code == codeSuccess.String() || s.cluster.writes.Load() > 0 ||
		isPlaced(findPod(s.objects, key)) {
		s.stop() // preemption goes on in the background; the next pod gets a scheduler that knows nothing of it
	}
	return response
}

// start runs a scheduler over the state in which the pod is pending, unless one is running.
func (s *session) start(key string) error {
	if s.cluster != nil {
		return nil
	}
	cluster, err := startCluster(stateFor(s.objects, key), s.configuration)
	s.cluster = cluster
	return err
}

func failed(id, key string, err error) *Response {
	response := newResponse(id, key)
	response.Error = err.Error()
	return response
}
