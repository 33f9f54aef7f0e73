//go:build !asan

package arena

const sanitized = false
