//go:build !asan

package slab

const sanitized = false
