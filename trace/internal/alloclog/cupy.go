package alloclog

import (
	"encoding/json"
	"math"
	"strconv"
)

// cupy parses what CuPy's DebugPrintHook prints. Its pool is the device.
type cupy struct{}

func (cupy) end() Event { return Event{} }

func (cupy) event(line []byte, _ int) (e Event, ok bool, err error) {
	var hook struct {
		Hook    string          `json:"hook"`
		Device  json.RawMessage `json:"device_id"`
		Size    json.RawMessage `json:"size"`
		Pointer json.RawMessage `json:"mem_ptr"`
	}
	if !object(line, &hook) {
		return e, comment(line), nil
	}
	e.Size = -1
	p := fieldParser{}
	switch hook.Hook {
	case "alloc": // of the pool's own from the driver
		return e, true, nil
	case "malloc":
		e.Kind = Alloc
		e.Size = p.size(string(hook.Size)) // mem_size is what the pool makes of it
	case "free":
		e.Kind = Free
	default:
		return e, false, nil
	}
	e.Space = p.number("device_id", string(hook.Device), 10)
	e.Pool = strconv.FormatUint(e.Space, 10)
	e.Pointer = p.number("mem_ptr", string(hook.Pointer), 10)
	return e.checkNull(), true, p.err
}

// sinceFirst keeps the first of several times in nanoseconds.
type sinceFirst struct {
	first int64
	begun bool
}

func (s *sinceFirst) ns(now int64) int64 {
	if !s.begun {
		s.first, s.begun = now, true
	}
	if now < s.first {
		return 0
	}
	if d := now - s.first; d >= 0 {
		return d
	}
	return math.MaxInt64
}
