//go:build race || asan

package adapt_test

// instrumented says that pairs allocate: sync.Pool drops some of what it is given, and more.
const instrumented = true
