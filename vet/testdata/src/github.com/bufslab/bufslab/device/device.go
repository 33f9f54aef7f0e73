// Package device is a stub for tests.
package device

// A Block is memory of a device.
type Block struct{ Addr uintptr }

// A Stream is a queue of a device.
type Stream interface{ Sync() error }
