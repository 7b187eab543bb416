//go:build !k8s1.36

package main

// scheduleGroup is for Kubernetes with a cycle of groups, which older ones lack.
func (s *session) scheduleGroup(key string) *GroupResponse {
	return &GroupResponse{ID: s.request.ID, Group: key, Error: "this Kubernetes schedules pod by pod"}
}
