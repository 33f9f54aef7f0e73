//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// asynchronous is a program that gets a buffer at each step, lets one stream
// write to it and another, behind an event, copy it to memory of the step's own,
// and releases it at once. The pool has room for a few buffers. It returns how
// many bytes are wrong, because the memory was reused too soon.
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
		b := check.Ok(get(p, writer))(t)
		check.Must(t, writer.Fill(b.Block(), byte(i)))
		e := devcheck.Record(t, writer)
		check.Must(t, reader.Wait(e))
		check.Must(t, reader.Copy(device.Block{Region: host.Region, Off: i * size, Len: size}, b.Block()))
		if used {
			check.Must(t, b.UsedOn(writer), b.UsedOn(reader))
		}
		check.Must(t, b.Release())
	}
	for _, s := range streams {
		check.Must(t, s.Sync())
	}
	for i, v := range device.Bytes(host) {
		if v != byte(i/size) {
			wrong++
		}
	}
	check.Must(t, p.Close())
	return wrong
}

func getPlain(p *slab.Pool, _ device.Stream) (slab.PooledBuffer, error) { return p.Get(1 << 10) }
func getOn(p *slab.Pool, s device.Stream) (slab.PooledBuffer, error)    { return p.GetOn(1<<10, s) }

// Buffers are reused in the order of the streams that use them, whichever way
// they are got.
func TestPoolReusesInTheOrderOfStreams(t *testing.T) {
	if wrong := asynchronous(t, getPlain, true); wrong != 0 {
		t.Errorf("with Get %d bytes are those of another step", wrong)
	}
	if wrong := asynchronous(t, getOn, true); wrong != 0 {
		t.Errorf("with GetOn %d bytes are those of another step", wrong)
	}
}

// Without UsedOn the lazy double shows it, or the test above would be none.
func TestReuseThatIsTooSoonShows(t *testing.T) {
	needsLazy(t)
	if asynchronous(t, getPlain, false) == 0 {
		t.Error("buffers that were reused too soon have the right contents")
	}
}
