package metal

import (
	"math"
	"slices"

	"github.com/bufslab/bufslab/device"
)

// A span is bytes of a buffer that a batch uses.
type span struct {
	stream *Stream
	number uint64
	lo, hi int
}

// notes keeps in mind what a batch uses, and forgets what is over.
func (s *Stream) notes(b *batch, n int, on []place) {
	s.hw.book.Lock()
	defer s.hw.book.Unlock()
	for _, p := range on {
		p.buf.work = slices.DeleteFunc(p.buf.work, func(w span) bool { return w.stream.reaped >= w.number })
		if w := (span{s, b.number, p.off, p.off + n}); !slices.Contains(p.buf.work, w) {
			p.buf.work = append(p.buf.work, w)
		}
	}
}

// UnderWay makes a Device a [device.Overseer], for work that streams of this package were given. Kernels
// of another binding are not known.
func (d *Device) UnderWay(b device.Block, but ...device.Stream) bool {
	r, ours := b.Region.(*Buffer)
	if !ours || r.dev.hw != d.hw {
		return false
	}
	d.hw.book.Lock()
	defer d.hw.book.Unlock()
	return slices.ContainsFunc(r.work, func(w span) bool {
		w.stream.reap()
		return w.stream.reaped < w.number && w.lo < b.Off+b.Len && b.Off < w.hi && !w.behind(but)
	})
}

// behind reports whether one of the streams is done after w only. The caller has book.
func (w span) behind(streams []device.Stream) bool {
	return slices.ContainsFunc(streams, func(s device.Stream) bool {
		own, ok := s.(*Stream)
		return ok && own.hw == w.stream.hw && own.follows(w, math.MaxUint64)
	})
}

// follows reports whether the batches of s up to a number are done after w only, as one of them waits for it. The
// caller has book.
func (s *Stream) follows(w span, last uint64) bool {
	if s == w.stream {
		return w.number <= last
	}
	batches := s.pending
	if s.open != nil {
		batches = append(slices.Clone(batches), s.open)
	}
	return slices.ContainsFunc(batches, func(b *batch) bool {
		return b.number <= last && slices.ContainsFunc(b.causes,
			func(e *Event) bool { return e.stream.follows(w, e.number) })
	})
}
