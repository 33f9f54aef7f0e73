package fuzz_test

import (
	"errors"
	"regexp"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/unified"
)

// Buffers with one fault each: a method of theirs stands in for the right one.
type (
	right         struct{ *unified.Buffer[byte] }
	forgetsHost   struct{ right } // does not mark what the host writes
	forgetsDevice struct{ right }
	staleHost     struct {
		right
		old *[]byte // handed out once, and again
	}
	swallowsConflict struct{ right }
	swallowsFailure  struct{ right }
	copiesAll        struct{ right }
	copiesTwice      struct{ right }
	copiesNothing    struct{ right }
	talksNonsense    struct{ right }
	waitsForNone     struct{ right }
	freesTwice       struct{ right }
)

func (b forgetsHost) HostMut() ([]byte, error)           { return b.Host() }
func (b forgetsDevice) DeviceMut() (device.Block, error) { return b.Device() }

func (b staleHost) Host() (m []byte, err error) {
	if *b.old == nil {
		*b.old, err = b.right.Host()
	}
	return *b.old, err
}

func (b swallowsConflict) MarkHostDirty() error {
	_ = b.right.MarkHostDirty()
	return nil
}

func (b swallowsFailure) Host() ([]byte, error) {
	m, err := b.right.Host()
	if err != nil && !errors.Is(err, slab.ErrReleased) {
		return make([]byte, b.Len()), nil
	}
	return m, err
}

func (b copiesAll) HostRange(i, j int) ([]byte, error) {
	m, err := b.Host()
	if err != nil {
		return nil, err
	}
	return m[i:j:j], nil
}

func (b copiesTwice) Device() (device.Block, error) {
	if _, err := b.right.Device(); err != nil {
		return device.Block{}, err
	}
	if b.State() == unified.Synchronized {
		_ = b.MarkHostDirty()
	}
	return b.right.Device()
}

func (b copiesNothing) SyncToDevice() error { return nil }

func (b talksNonsense) State() unified.State { return unified.Synchronized }

// It does not tell the buffer that a stream will use the block.
func (b waitsForNone) DeviceOn(device.Stream) (device.Block, error)    { return b.Device() }
func (b waitsForNone) DeviceMutOn(device.Stream) (device.Block, error) { return b.DeviceMut() }
func (b waitsForNone) DeviceOverwriteOn(device.Stream) (device.Block, error) {
	return b.DeviceOverwrite()
}

func (b freesTwice) Free() error {
	_ = b.right.Free()
	return nil
}

// seen is what a wrong residency is noticed by, whichever comes first.
const seen = "stale|state is|are the least|no error, where|error is|are current"

var brokenBuffers = []struct {
	name, says string
	make       func(right) fuzz.UnifiedBuffer
}{
	{"a host write that is not marked", seen, func(r right) fuzz.UnifiedBuffer { return forgetsHost{r} }},
	{"a device write that is not marked", seen, func(r right) fuzz.UnifiedBuffer { return forgetsDevice{r} }},
	{"a host side that stays stale", seen, func(r right) fuzz.UnifiedBuffer { return staleHost{r, new([]byte)} }},
	{"a conflict not told", "no error, where it has to be", func(r right) fuzz.UnifiedBuffer { return swallowsConflict{r} }},
	{"a failure not told", "stale|state is|elements, not", func(r right) fuzz.UnifiedBuffer { return swallowsFailure{r} }},
	{"a range that moves all", seen, func(r right) fuzz.UnifiedBuffer { return copiesAll{r} }},
	{"a copy without need", seen, func(r right) fuzz.UnifiedBuffer { return copiesTwice{r} }},
	{"a synchronization that does nothing", seen, func(r right) fuzz.UnifiedBuffer { return copiesNothing{r} }},
	{"a state of its own", "state is", func(r right) fuzz.UnifiedBuffer { return talksNonsense{r} }},
	{"a stream that is not waited for", seen, func(r right) fuzz.UnifiedBuffer { return waitsForNone{r} }},
	{"a second Free that works", "second Free", func(r right) fuzz.UnifiedBuffer { return freesTwice{r} }},
}

func TestBrokenBuffersAreFound(t *testing.T) {
	quick(t)
	for _, f := range brokenBuffers {
		t.Run(f.name, func(t *testing.T) {
			text := verdict(t, fuzz.UnifiedProperty(late(1), fuzz.Buffers(func(d device.Device, n int) (fuzz.UnifiedBuffer, error) {
				b, err := unified.New[byte](d, n)
				return f.make(right{b}), err
			})))
			if !regexp.MustCompile(f.says).MatchString(text) {
				t.Errorf("no word of %q in %q", f.says, text)
			}
		})
	}
}
