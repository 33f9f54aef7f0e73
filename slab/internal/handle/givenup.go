//go:build !race && !(asan && cgo)

package handle

import "github.com/bufslab/bufslab/device"

// Calls for the sanitizers, each in its build: see givenup_race.go and givenup_asan.go.

// Sanitized says that GivenUp and TakenOver call C, which pinned code must not.
const Sanitized = false

// GivenUp says that the owner of n bytes gives them up.
func GivenUp(Entry, int) {}

// TakenOver says that a block has a new owner, of n bytes.
func TakenOver(Entry, int) {}

// Left says that memory goes upstream.
func Left(device.Block) {}
