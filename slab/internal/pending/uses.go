package pending

import (
	"slices"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/handle"
)

// Use notes that a stream has work to do on the block of s. The caller has pinned s,
// or has not handed it out yet, so that Release does not read its flags meanwhile.
func (q *Queue) Use(s *handle.Slot, on device.Stream) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.streams == nil {
		q.streams = map[handle.ID][]device.Stream{}
	}
	if at := q.streams[s.ID()]; !slices.Contains(at, on) {
		q.streams[s.ID()] = append(at, on)
	}
	s.SetStreamed()
}

// Uses returns the streams that have used the block of s.
func (q *Queue) Uses(s *handle.Slot) []device.Stream {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.streams[s.ID()])
}

// UseAll is Use on each of some streams.
func (q *Queue) UseAll(s *handle.Slot, streams []device.Stream) {
	for _, on := range streams {
		q.Use(s, on)
	}
}

// EndUse returns the streams that have used the block of s, and forgets them.
func (q *Queue) EndUse(s *handle.Slot) []device.Stream {
	q.mu.Lock()
	defer q.mu.Unlock()
	on := q.streams[s.ID()]
	delete(q.streams, s.ID())
	s.ClearStreamed()
	return on
}
