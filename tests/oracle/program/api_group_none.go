//go:build !k8s1.36 || k8s1.38

package main

// scheduleGroup is for Kubernetes with a cycle of groups, which older ones lack; that of 1.38 is not asked yet.
func (s *session) scheduleGroup(key string) *GroupResponse {
	return &GroupResponse{ID: s.request.ID, Group: key, Error: "this Kubernetes schedules pod by pod, or its groups are not asked"}
}
