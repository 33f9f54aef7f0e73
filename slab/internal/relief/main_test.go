package relief

import (
	"testing"

	"go.uber.org/goleak"
)

// No watcher outlasts the last member.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
