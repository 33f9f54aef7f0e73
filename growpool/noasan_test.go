//go:build !asan

package growpool

const sanitized = false
