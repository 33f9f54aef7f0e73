package alloclog

import (
	"math"
	"strconv"
	"strings"
	"time"
)

const rmmHeader = "Thread,Time,Action,Pointer,Size,Stream"

var rmmFormat = Format{Name: "RMM log", Unit: "line", Columns: []string{"stream", "thread", "time_ns"}}

func isRMM(line []byte) bool { return strings.TrimSuffix(string(line), "\r") == rmmHeader }

// rmm parses what RMM's logging resource adaptor writes.
type rmm struct{ clock DayClock }

func (r *rmm) end() Event { return Event{} }

func (r *rmm) event(line []byte, at int) (e Event, ok bool, err error) {
	text := string(line)
	if at == 1 {
		return e, true, nil // the header
	}
	fields := strings.Split(text, ",")
	if len(fields) != 6 {
		return e, true, malformed("%d fields, want %s", len(fields), rmmHeader)
	}
	switch fields[2] {
	case "allocate":
		e.Kind = Alloc
	case "free":
		e.Kind = Free
	case "allocate failure":
		e.Kind = Failed
	default:
		return e, true, malformed("action %q, want allocate, allocate failure or free", fields[2])
	}
	p := fieldParser{}
	e.Thread = p.number("thread", fields[0], 10)
	e.Pointer = p.number("pointer", fields[3], 0)
	e.Size = p.size(fields[4])
	e.Stream = p.number("stream", fields[5], 0)
	e.TimeNS = r.clock.Since(fields[1])
	return e.checkNull(), true, p.err
}

// checkNull tells what an event about no memory means.
func (e Event) checkNull() Event {
	switch {
	case e.Pointer != 0 || e.Kind == Failed:
	case e.Kind != Free && e.Size > 0:
		e.Kind = Failed
	default:
		e.Kind = 0 // no bytes, or a free of nothing
	}
	return e
}

// A DayClock turns hours of the day, as RMM logs them, into nanoseconds since the first.
type DayClock struct {
	days        time.Duration // that have passed since the first hour
	start, last time.Duration // of the day
	begun       bool
}

// Since returns the nanoseconds from the first hour to this one. A clock that jumps by
// more than half a day has passed midnight. Threads may write out of order. What is no
// hour is that of the line before.
func (c *DayClock) Since(text string) int64 {
	now, ok := hour(text)
	if !ok {
		now = c.last
	}
	if !c.begun {
		c.start, c.last, c.begun = now, now, true
	}
	switch {
	case c.last-now > 12*time.Hour:
		c.days += 24 * time.Hour
	case now-c.last > 12*time.Hour:
		c.days -= 24 * time.Hour
	}
	c.last = now
	return max(0, int64(c.days+now-c.start))
}

// hour parses 15:04:05.000000; old logs have a colon before the fraction.
func hour(text string) (sinceMidnight time.Duration, ok bool) {
	if len(text) < 9 || text[8] != ':' && text[8] != '.' {
		return 0, false
	}
	t, err := time.Parse("15:04:05.999999999", text[:8]+"."+text[9:])
	return t.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)), err == nil
}

// A fieldParser keeps the first error of several fields.
type fieldParser struct{ err error }

func (p *fieldParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = malformed(format, args...)
	}
}

// number parses a number or pointer; "(nil)" and nothing are 0.
func (p *fieldParser) number(what, text string, base int) uint64 {
	if text == "(nil)" || text == "" {
		return 0
	}
	n, err := strconv.ParseUint(text, base, 64)
	if err != nil {
		p.fail("%s %.64q: %w", what, text, err.(*strconv.NumError).Err)
	}
	return n
}

func (p *fieldParser) size(text string) int {
	n, err := strconv.ParseUint(text, 10, 64)
	if err == nil && n > math.MaxInt {
		err = &strconv.NumError{Err: strconv.ErrRange}
	}
	if err != nil {
		p.fail("size %.64q: %w", text, err.(*strconv.NumError).Err)
	}
	return int(n)
}
