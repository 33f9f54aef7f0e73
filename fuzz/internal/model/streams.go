package model

import (
	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
)

// Streams are those of a program, nil until drawn. There are enough for one to
// be overtaken by two others.
type Streams [3]device.Stream

// Draw draws a stream of dev, a new one at first. Setting it to nil forgets it.
func (s *Streams) Draw(t *rapid.T, dev device.Device) *device.Stream {
	at := &s[rapid.IntRange(0, len(s)-1).Draw(t, "stream")]
	if *at == nil {
		*at = NewStream(t, dev)
	}
	return at
}

// NewStream returns a new stream of dev.
func NewStream(t *rapid.T, dev device.Device) device.Stream {
	s, err := dev.NewStream()
	if OK(t, err); s == nil {
		t.Fatal("NewStream gave no stream and no error")
	}
	return s
}

// Close waits for all streams and closes them.
func (s *Streams) Close(t *rapid.T) {
	for _, stream := range s {
		if stream != nil {
			OK(t, stream.Sync())
			OK(t, stream.Close())
		}
	}
}

// A Use is the last work on some memory that the program has not waited for.
// The zero Use is none.
type Use struct {
	Stream device.Stream
	event  device.Event
}

// Record returns the use of memory by all work that s has so far.
func Record(t *rapid.T, s device.Stream) Use {
	e, err := s.Record()
	if OK(t, err); e == nil {
		t.Fatal("Record gave no event and no error")
	}
	return Use{s, e}
}

// Done reports whether the work is done, as its event says.
func (u Use) Done() bool { return u.Stream == nil || u.event.Done() }

// Join makes s wait for the work, if it is another stream's.
func (u Use) Join(t *rapid.T, s device.Stream) {
	if u.Stream != nil && u.Stream != s {
		OK(t, s.Wait(u.event))
	}
}

// Wait waits until the work is done, and makes u none.
func (u *Use) Wait(t *rapid.T) {
	if u.Stream != nil {
		OK(t, u.event.Sync())
		*u = Use{}
	}
}
