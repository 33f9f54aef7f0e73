package alloclog

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"github.com/bufslab/bufslab/trace/internal/pickle"
)

// pickleBudget is how many bytes the decoded snapshot may take: some 2 million events.
const pickleBudget = 2 << 30

var torchFormat = Format{Name: "PyTorch memory snapshot", Unit: "event", Columns: []string{"key", "stream", "time_ns"}}

// isPickle knows how pickles of a dict begin: with their protocol from 2 on, with a dict or
// a mark before.
func isPickle(start []byte) bool {
	for _, magic := range []string{"\x80\x02", "\x80\x03", "\x80\x04", "\x80\x05", "}q", "(dp"} {
		if bytes.HasPrefix(start, []byte(magic)) {
			return true
		}
	}
	return false
}

// openTorch reads the whole snapshot, as its segments may say what was live before its
// first event.
func openTorch(in *bufio.Reader) (*Log, error) {
	root, err := pickle.Decode(in, pickleBudget)
	if err != nil {
		return nil, fmt.Errorf("%w: pickle: %w", ErrLog, err)
	}
	s, err := newSnapshot(root)
	if err != nil {
		return nil, err
	}
	return &Log{Format: torchFormat, Notes: s.notes(), next: s.next}, nil
}

// A snapshot is that of all devices. First come the blocks that were live before the
// recording began, then the events in the order of their times.
type snapshot struct {
	devices devices
	before  []Event
	rest    deviceHeap
	startUS int64
	events  int
}

func newSnapshot(root any) (s *snapshot, err error) {
	dict, ok := root.(pickle.Dict)
	if _, has := dict["device_traces"]; !ok || !has {
		return nil, malformed("a pickle without device_traces; %s", known)
	}
	s = &snapshot{devices: devices{byNumber: make(map[int64]*torchDevice), read: make(map[*pickle.List]bool)}}
	if s.events, err = s.devices.addTraces(dict["device_traces"]); err != nil {
		return nil, err
	}
	if err := s.devices.addSegments(dict["segments"]); err != nil {
		return nil, err
	}
	s.start()
	return s, nil
}

// start makes the devices ready to be read.
func (s *snapshot) start() {
	for _, d := range s.devices.sorted() {
		s.before = append(s.before, d.earlier()...)
		if d.begin() {
			s.rest.push(d)
		}
	}
	if len(s.rest) > 0 {
		s.startUS = s.rest[0].timeUS
	}
}

func (s *snapshot) notes() (all []string) {
	if n := len(s.before); n > 0 {
		all = append(all, fmt.Sprintf("%d blocks were live before the first event and come first", n))
	}
	if s.events == 0 {
		all = append(all, "the snapshot has no events, only what was live: _record_memory_history was not on")
	}
	return all
}

func (s *snapshot) next() (Event, error) {
	if len(s.before) > 0 {
		e := s.before[0]
		s.before = s.before[1:]
		return e, nil
	}
	if len(s.rest) == 0 {
		return Event{}, io.EOF
	}
	d := s.rest[0]
	timeUS := d.timeUS
	e, err := d.step()
	e.TimeNS = nanoseconds(timeUS, s.startUS)
	if d.advance() {
		s.rest.fix()
	} else {
		s.rest.pop()
	}
	return e, err
}
