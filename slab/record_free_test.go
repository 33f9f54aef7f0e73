package slab

import (
	"bytes"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// A looking is an upstream that has a look as memory comes back.
type looking struct {
	device.Device
	free func()
}

func (l *looking) Free(b device.Block) {
	l.Device.Free(b)
	l.free()
}

// A free is recorded when the memory can be had again: while it is on its way there is no row yet.
func TestAFreeIsRecordedWhenTheMemoryIsBack(t *testing.T) {
	up := &looking{Device: openDevice(t, "heap")}
	p := mustOpen(t, up, Config{Strategy: "direct", RecordLast: 10})
	rows := -1
	up.free = func() {
		var b bytes.Buffer
		check.Must(t, p.WriteRecord(&b))
		rows = strings.Count(b.String(), "\nf,")
	}
	mustRelease(t, mustGet(t, p, 1000))
	if rows != 0 {
		t.Errorf("%d frees were recorded as the memory went back", rows)
	}
	wantRecorded(t, p, "a,0,1000", "f,0,1000")
}
