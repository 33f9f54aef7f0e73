//go:build !race && !asan

package soak

const instrumented = false
