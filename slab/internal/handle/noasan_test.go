//go:build !asan

package handle

const sanitized = false
