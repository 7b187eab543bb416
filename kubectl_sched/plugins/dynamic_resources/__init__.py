"""DynamicResources: are the devices that the pod claims free on the node.

Answers to pkg/scheduler/framework/plugins/dynamicresources and to k8s.io/dynamic-resource-allocation.
"""
