//go:build !race && !asan

package opencl_test

const instrumented = false
