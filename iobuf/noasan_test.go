//go:build !asan

package iobuf

const sanitized = false
