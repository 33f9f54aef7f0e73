//go:build race || asan

package soak

// instrumented says that the runtime keeps memory of its own for ours.
const instrumented = true
