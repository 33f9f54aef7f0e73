//go:build asan

package handle

// sanitized says that the runtime puts zones around objects, and keeps what is
// freed for a while.
const sanitized = true
