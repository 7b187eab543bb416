"""Keeps a pod off nodes that cannot attach more volumes (plugins/nodevolumelimits/csi.go)."""
