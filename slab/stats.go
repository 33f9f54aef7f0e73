package slab

import (
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// Stats counts what a pool has done and says where its memory is. In every reading
//
//	ManagedBytes = ActiveBytes + RoundingBytes + HeldBytes + UnusableBytes
//
// and none of them is negative. When no call runs all figures are exact. Beside running calls ManagedBytes is what it
// was at a moment of the reading, so never above the budget. ActiveBlocks and ActiveBytes are at most what was out at a
// moment: buffers that are released during the reading are missing. What belongs to none of the other figures, such as
// a block on its way from one place to another, counts as RoundingBytes.
//
// HeldBlocks counts blocks in caches and lists, free blocks of slabs and, with bestfit and
// slab, free extents. Neighbouring extents merge, so they are not the blocks that were released.
//
// If the upstream is a strategy itself, a [UsageReporter], its memory beyond the pool's blocks
// is counted, too. PeakManagedBytes then includes only as much of it as calls of Stats have seen.
//
// PeakActiveBytes is seen by Stats, and by Gets that pass the caches. Such Gets look when they have asked for
// as much as was missing from the peak at the last look, and for a 64th of the peak. While looks find no new peak
// they look less often, at least once in 127 Gets of that size and once in 512 KiB a processor. The peak may be too
// small by these bytes and by the bytes in caches: hits in between are not seen, nor Gets that run meanwhile. A Get of
// so much that goes upstream is counted beside what was out when it was called. PeakManagedBytes divided by
// PeakActiveBytes is the footprint of the process, which a replay promises (bufslab verify).
//
// Peaks and counts of events never fall, except peaks by ResetPeaks.
type Stats struct {
	ActiveBlocks int64 `json:"active_blocks"`
	HeldBlocks   int64 `json:"held_blocks"`

	ActiveBytes int64 `json:"active_bytes"` // of active buffers, as asked for
	// free: in caches, lists, slabs and ranges, and blocks that wait for streams
	HeldBytes     int64 `json:"held_bytes"`
	RoundingBytes int64 `json:"rounding_bytes"` // of active and cached blocks, beyond the bytes asked for
	// tails of slabs, memory that a guard withholds, and memory in quarantine that could not go back
	UnusableBytes int64 `json:"unusable_bytes"`
	// from upstream now, less what is on its way back; in ranges of mmap, pages count from when they are handed out
	// first, and up to 64 KiB behind the last may be resident
	ManagedBytes     int64 `json:"managed_bytes"`
	PeakManagedBytes int64 `json:"peak_managed_bytes"` // from upstream at most, since Open or the last ResetPeaks
	// the budget, Config.MaxBytes or the bytes of Config.MaxShare (see Pool.Explain); 0 is none
	MaxBytes int64 `json:"max_bytes"`
	// active at most, since Open or the last ResetPeaks, as seen by Gets that passed the caches
	PeakActiveBytes int64 `json:"peak_active_bytes"`

	WaitingBlocks int64 `json:"waiting_blocks"` // of the held: until streams that use it are done
	WaitingBytes  int64 `json:"waiting_bytes"`

	Hits int64 `json:"hits"` // Gets without a call upstream
	// Gets with a call upstream: Hits and Misses are all Gets that succeeded
	Misses         int64 `json:"misses"`
	Failed         int64 `json:"failed"`          // Gets that returned an OutOfMemoryError, which are no Hits or Misses
	AllocatedBytes int64 `json:"allocated_bytes"` // of all Gets, as asked for
	UpstreamAllocs int64 `json:"upstream_allocs"` // calls that succeeded
	UpstreamFrees  int64 `json:"upstream_frees"`

	// buffers and parts that the collector found forgotten, those in quarantine too
	Forgotten      int64 `json:"forgotten"`
	DoubleReleases int64 `json:"double_releases"` // Releases that returned ErrReleased
	ForeignPuts    int64 `json:"foreign_puts"`    // Puts that returned ErrForeign

	Guarded       int64 `json:"guarded"`        // buffers that were withheld after their Release: see Config.Guard
	WithheldBytes int64 `json:"withheld_bytes"` // of the unusable: memory that guard withholds now
	// uses after Release, slices that were kept after it among them, each a *GuardError
	GuardFaults int64 `json:"guard_faults"`

	Trims        int64 `json:"trims"`         // calls of Trim, also by the clock
	TrimmedBytes int64 `json:"trimmed_bytes"` // that Trims gave upstream
	Collections  int64 `json:"collections"`   // of garbage that the pool has run: see docs/leaks.md

	PressureSteps int64 `json:"pressure_steps"` // steps that gave memory back because it was short: see Config.Pressure
	PressureBytes int64 `json:"pressure_bytes"` // that went upstream then

	// out now in plain Go memory because there was no room: see Config.Overflow; package adapt makes some, too. They
	// are not among the active ones
	OverflowBlocks int64 `json:"overflow_blocks"`
	OverflowBytes  int64 `json:"overflow_bytes"`

	Waiters  int64         `json:"waiters"`      // calls of GetContext that wait now
	Waits    int64         `json:"waits"`        // calls of GetContext that had to wait
	WaitTime time.Duration `json:"wait_time_ns"` // of all waits that have ended
}

// bounded makes figures of different moments add up: each is at least 0 and at most what the figures before it leave of
// the managed bytes.
func (s Stats) bounded() Stats {
	left := s.ManagedBytes
	for _, part := range []*int64{&s.ActiveBytes, &s.UnusableBytes, &s.HeldBytes} {
		*part = max(0, min(*part, left))
		left -= *part
	}
	s.RoundingBytes = left
	s.ActiveBlocks, s.HeldBlocks = max(min(1, s.ActiveBytes), s.ActiveBlocks), max(0, s.HeldBlocks)
	s.WaitingBlocks, s.WaitingBytes = min(s.WaitingBlocks, s.HeldBlocks), min(s.WaitingBytes, s.HeldBytes)
	s.WithheldBytes = min(s.WithheldBytes, s.UnusableBytes)
	return s
}

// A statField is a field of Stats under the name that it has everywhere: in JSON, in logs
// and, with a prefix, in metrics.
type statField struct {
	name  string
	kind  Kind
	value func(*Stats) int64
	help  string
}

// statFields lists the fields of Stats in their order. Fields whose names end in _bytes are
// bytes, in _ns nanoseconds, all others numbers.
var statFields = [...]statField{
	{"active_blocks", Gauge, func(s *Stats) int64 { return s.ActiveBlocks }, "Buffers that are out."},
	{"held_blocks", Gauge, func(s *Stats) int64 { return s.HeldBlocks }, "Free blocks that are kept for reuse."},
	{"active_bytes", Gauge, func(s *Stats) int64 { return s.ActiveBytes },
		"Bytes of buffers that are out, as asked for."},
	{"held_bytes", Gauge, func(s *Stats) int64 { return s.HeldBytes }, "Free bytes that are kept for reuse."},
	{"rounding_bytes", Gauge, func(s *Stats) int64 { return s.RoundingBytes },
		"Bytes that blocks in use or in caches have beyond what was asked for."},
	{"unusable_bytes", Gauge, func(s *Stats) int64 { return s.UnusableBytes },
		"Bytes in tails of slabs, in quarantine, and withheld."},
	{"managed_bytes", Gauge, func(s *Stats) int64 { return s.ManagedBytes },
		"Bytes that the pool has from its upstream."},
	{"peak_managed_bytes", Gauge, func(s *Stats) int64 { return s.PeakManagedBytes },
		"Bytes that the pool had from its upstream at most."},
	{"max_bytes", Gauge, func(s *Stats) int64 { return s.MaxBytes },
		"Bytes that the pool may have from its upstream; 0 is no limit."},
	{"peak_active_bytes", Gauge, func(s *Stats) int64 { return s.PeakActiveBytes },
		"Bytes of buffers that were out at most."},
	{"waiting_blocks", Gauge, func(s *Stats) int64 { return s.WaitingBlocks },
		"Released blocks that streams still use."},
	{"waiting_bytes", Gauge, func(s *Stats) int64 { return s.WaitingBytes }, "Released bytes that streams still use."},
	{"hits", Counter, func(s *Stats) int64 { return s.Hits }, "Gets without a call upstream."},
	{"misses", Counter, func(s *Stats) int64 { return s.Misses }, "Gets with a call upstream."},
	{"failed", Counter, func(s *Stats) int64 { return s.Failed }, "Gets that were out of memory."},
	{"allocated_bytes", Counter, func(s *Stats) int64 { return s.AllocatedBytes }, "Bytes of all Gets, as asked for."},
	{"upstream_allocs", Counter, func(s *Stats) int64 { return s.UpstreamAllocs },
		"Calls that took memory from upstream."},
	{"upstream_frees", Counter, func(s *Stats) int64 { return s.UpstreamFrees },
		"Calls that gave memory back upstream."},
	{"forgotten", Counter, func(s *Stats) int64 { return s.Forgotten },
		"Buffers that were never released and that the collector found."},
	{"double_releases", Counter, func(s *Stats) int64 { return s.DoubleReleases },
		"Releases of what was released before."},
	{"foreign_puts", Counter, func(s *Stats) int64 { return s.ForeignPuts },
		"Puts of slices that are no buffer of the pool."},
	{"guarded", Counter, func(s *Stats) int64 { return s.Guarded },
		"Buffers that were withheld after their release to find uses of them."},
	{"withheld_bytes", Gauge, func(s *Stats) int64 { return s.WithheldBytes }, "Bytes of those that are withheld now."},
	{"guard_faults", Counter, func(s *Stats) int64 { return s.GuardFaults },
		"Uses of guarded buffers after their release, slices that were kept after it among them."},
	{"trims", Counter, func(s *Stats) int64 { return s.Trims }, "Times that memory was looked for that was not used."},
	{"trimmed_bytes", Counter, func(s *Stats) int64 { return s.TrimmedBytes },
		"Bytes that went upstream as they were not used."},
	{"collections", Counter, func(s *Stats) int64 { return s.Collections },
		"Garbage collections that the pool has run."},
	{"pressure_steps", Counter, func(s *Stats) int64 { return s.PressureSteps },
		"Times that held memory went back as the system was short of it."},
	{"pressure_bytes", Counter, func(s *Stats) int64 { return s.PressureBytes },
		"Bytes that went upstream as the system was short of memory."},
	{"overflow_blocks", Gauge, func(s *Stats) int64 { return s.OverflowBlocks },
		"Buffers that are out in plain Go memory as there was no room."},
	{"overflow_bytes", Gauge, func(s *Stats) int64 { return s.OverflowBytes },
		"Bytes that are out in plain Go memory as there was no room."},
	{"waiters", Gauge, func(s *Stats) int64 { return s.Waiters }, "Calls of GetContext that wait."},
	{"waits", Counter, func(s *Stats) int64 { return s.Waits }, "Calls of GetContext that had to wait."},
	{"wait_time_ns", Counter, func(s *Stats) int64 { return int64(s.WaitTime) },
		"How long calls of GetContext have waited."},
}

// String returns the fields that are not zero on a line, as name=value with the names that
// they have in JSON.
func (s Stats) String() string {
	var parts []string
	for _, f := range statFields {
		if v := f.value(&s); v != 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", f.name, v))
		}
	}
	return strings.Join(parts, " ")
}

// LogValue returns all fields as a group, with the names that they have in JSON.
func (s Stats) LogValue() slog.Value {
	var attrs []slog.Attr
	for _, f := range statFields {
		attrs = append(attrs, slog.Int64(f.name, f.value(&s)))
	}
	return slog.GroupValue(attrs...)
}

// A Kind says how the values of a metric change.
type Kind int

// The kinds of metrics.
const (
	Gauge   Kind = iota // goes up and down
	Counter             // counts from Open, and never goes down
)

// String returns gauge or counter.
func (k Kind) String() string {
	if k == Counter {
		return "counter"
	}
	return "gauge"
}

func (f *statField) metric(s *Stats) Metric {
	m := Metric{Name: "bufslab_" + f.name, Help: f.help, Kind: f.kind, Value: float64(f.value(s))}
	if strings.HasSuffix(f.name, "_bytes") {
		m.Unit = "bytes"
	}
	if base, ok := strings.CutSuffix(m.Name, "_ns"); ok {
		m.Name, m.Unit, m.Value = base+"_seconds", "seconds", m.Value/1e9
	}
	if f.kind == Counter {
		m.Name += "_total"
	}
	return m
}
