//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// asynchronous is a program that gets a buffer at each step, lets one stream
// write to it and another, behind an event, copy it to memory of the step's own,
// and releases it at once. The pool has room for a few buffers. It returns how
// many bytes are wrong, because somebody had the memory too soon.
func asynchronous(t *testing.T, get func(p *slab.Pool, s device.Stream) (slab.PooledBuffer, error), used bool) (wrong int) {
	t.Helper()
	const steps, size = 250, 1 << 10
	d := opened(t, "cuda:0")
	p := openPool(t, d, slab.Config{Strategy: "exact", MaxBytes: 8 * size})
	host := allocated(t, pinnedOf(t, d), steps*size)
	var streams []device.Stream
	for range 3 {
		streams = append(streams, streamOn(t, d))
	}
	for i := range steps {
		writer, reader := streams[i%3], streams[(i+1+i%2)%3]
		b, err := get(p, writer)
		must(t, err)
		must(t, writer.Fill(b.Block(), byte(i)))
		e, err := writer.Record()
		must(t, err)
		must(t, reader.Wait(e))
		must(t, reader.Copy(device.Block{Region: host.Region, Off: i * size, Len: size}, b.Block()))
		if used {
			must(t, b.UsedOn(writer))
			must(t, b.UsedOn(reader))
		}
		must(t, b.Release())
	}
	for _, s := range streams {
		must(t, s.Sync())
	}
	for i, v := range device.Bytes(host) {
		if v != byte(i/size) {
			wrong++
		}
	}
	must(t, p.Close())
	return wrong
}

func getPlain(p *slab.Pool, _ device.Stream) (slab.PooledBuffer, error) { return p.Get(1 << 10) }
func getOn(p *slab.Pool, s device.Stream) (slab.PooledBuffer, error)    { return p.GetOn(1<<10, s) }

// Buffers are reused in the order of the streams that use them, whichever way
// they are got.
func TestPoolReusesInTheOrderOfStreams(t *testing.T) {
	if wrong := asynchronous(t, getPlain, true); wrong != 0 {
		t.Errorf("with Get %d bytes are somebody else's", wrong)
	}
	if wrong := asynchronous(t, getOn, true); wrong != 0 {
		t.Errorf("with GetOn %d bytes are somebody else's", wrong)
	}
}

// Without UsedOn the lazy double shows it, or the test above would be none.
func TestReuseThatIsTooSoonShows(t *testing.T) {
	needsLazy(t)
	if asynchronous(t, getPlain, false) == 0 {
		t.Error("buffers that were reused too soon have the right contents")
	}
}
