package inspect_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind, and no handler has one.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
