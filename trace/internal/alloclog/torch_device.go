package alloclog

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/bufslab/bufslab/trace/internal/pickle"
)

// A blockState is what the events so far say about an address.
type blockState byte

const (
	unseen blockState = iota
	live
	requested // to be freed: another stream still uses the memory
	gone
)

// A torchDevice is one list of device_traces.
type torchDevice struct {
	number  int64
	entries []any
	states  map[uint64]blockState
	first   map[uint64]Event // by address: what was live before the first event
	at      int              // of the next entry
	timeUS  int64            // of the next entry, and never less than before
}

// findEarlier runs through the entries to see which blocks they free and never allocated.
func (d *torchDevice) findEarlier() error {
	for d.at < len(d.entries) {
		if _, err := d.step(); err != nil {
			return err
		}
		d.at++
	}
	return nil
}

// addBlock adds what is live at the end and has no event: it was live all the time.
func (d *torchDevice) addBlock(e Event) {
	if d.states[e.Pointer] == unseen {
		d.states[e.Pointer] = live
		d.first[e.Pointer] = e
	}
}

// earlier returns the blocks that were live before the first event, by address.
func (d *torchDevice) earlier() []Event {
	return slices.SortedFunc(maps.Values(d.first), func(a, b Event) int { return cmp.Compare(a.Pointer, b.Pointer) })
}

// begin returns to the first entry, and false if there is none. The state of a block that
// was not live before it does not matter: it is allocated first.
func (d *torchDevice) begin() bool {
	d.at = -1
	for address := range d.first {
		d.states[address] = live
	}
	return d.advance()
}

// advance goes to the next entry.
func (d *torchDevice) advance() bool {
	if d.at++; d.at >= len(d.entries) {
		return false
	}
	if t, ok := d.entries[d.at].(pickle.Dict)["time_us"].(int64); ok {
		d.timeUS = max(d.timeUS, t)
	}
	return true
}

// step returns what the entry says. The program frees a block by the first of
// free_requested and free_completed; the second, if there is one, changes nothing for it.
func (d *torchDevice) step() (e Event, err error) {
	entry, ok := d.entries[d.at].(pickle.Dict)
	if !ok {
		return e, malformed("event %d of device %d is no dict", d.at+1, d.number)
	}
	action, _ := entry["action"].(string)
	switch action {
	case "alloc", "free", "free_requested", "free_completed":
	case "oom":
		return Event{Kind: Failed, At: d.at + 1}, nil
	case "segment_alloc", "segment_free", "segment_map", "segment_unmap", "snapshot", "annotate", "user_defined", "workspace_snapshot":
		return e, nil
	default:
		return Event{Kind: Skipped, At: d.at + 1}, nil
	}
	if e, err = d.event(entry, "addr", "size"); err != nil {
		return Event{}, malformed("event %d of device %d: %w", d.at+1, d.number, err)
	}
	e.At = d.at + 1
	stream, _ := entry["stream"].(int64)
	e.Stream = uint64(stream)
	return d.apply(e, action), nil
}

// apply changes the state of the block and returns e with its kind.
func (d *torchDevice) apply(e Event, action string) Event {
	state := d.states[e.Pointer]
	if action == "alloc" {
		e.Kind = Alloc
		d.states[e.Pointer] = live
		return e
	}
	if state == unseen {
		before := e
		before.Kind, before.At = Alloc, 0
		d.first[e.Pointer] = before
	}
	if state != requested || action == "free_requested" {
		e.Kind = Free
	}
	d.states[e.Pointer] = gone
	if action == "free_requested" {
		d.states[e.Pointer] = requested
	}
	return e
}

// event takes the address and the size from a dict.
func (d *torchDevice) event(dict pickle.Dict, address, size string) (e Event, err error) {
	at, ok := dict[address].(int64)
	if !ok || at == 0 {
		return e, fmt.Errorf("%s is no address", address)
	}
	n, ok := dict[size].(int64)
	if !ok || n < 0 || n > math.MaxInt {
		return e, fmt.Errorf("%s is no size", size)
	}
	return Event{Space: uint64(d.number), Pool: strconv.FormatInt(d.number, 10), Pointer: uint64(at), Size: int(n)}, nil
}

// nanoseconds from start to now, at least 0 and at most what fits.
func nanoseconds(now, start int64) int64 {
	us := now - start
	switch {
	case now <= start:
		return 0
	case us < 0 || us > math.MaxInt64/1000:
		return math.MaxInt64
	}
	return us * 1000
}
