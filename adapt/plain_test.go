//go:build !race && !asan

package adapt_test

const instrumented = false
