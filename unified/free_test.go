package unified_test

import (
	"slices"
	"testing"
	"time"

	"github.com/bufslab/bufslab/internal/check"
)

// Host memory that is freed while only a copy of ours writes it is not given to others
// before the copy is done.
func TestFreeWhileACopyToTheHostIsUnderWay(t *testing.T) {
	d := slowSim()
	s := stream(t, d)
	a := pinned(t, d, 1000)
	writeDevice(t, d, a, slices.Repeat([]byte{9}, 1000)...)
	check.Must(t, s.Launch(time.Second, func(...[]byte) {}))
	check.Must(t, a.SyncToHostOn(s), a.Free())
	b := pinned(t, d, 1000)
	check.Must(t, b.Fill(2), s.Sync())
	wantHost(t, b, slices.Repeat([]byte{2}, 1000)...)
	notUsedAfterFree(t, d)
}
