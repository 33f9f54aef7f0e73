package model

import (
	"errors"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/draw"
	"github.com/bufslab/bufslab/internal/upstreamtest"
)

// A Base is what the models of what hands out memory share: what is below, and steps that ask for memory in vain.
type Base struct {
	Patience
	Settings
	Up      *Upstream
	Bytes   Contents
	Asked   []int // sizes, to be asked for again
	Next    int   // number of the last owner
	Stopped bool  // holding
	Alone   bool  // nothing gives memory back but the program's own calls
}

// Program runs a program on a base, and ends it: begin returns the actions, and what is done after them.
func (s Settings) Program(
	begin func(*rapid.T, Base) (actions map[string]func(*rapid.T), end func(*rapid.T)),
) func(*rapid.T) {
	return func(t *rapid.T) {
		up, dev := s.Open(t)
		actions, end := begin(t, Base{Settings: s, Up: up, Bytes: Contents{Dev: dev}})
		Repeat(t, actions)
		end(t)
		if dev != nil {
			OK(t, dev.Close())
		}
	}
}

// Size draws a size to ask for.
func (b *Base) Size(t *rapid.T) int { return draw.UpTo(t, b.MaxSize, b.Asked) }

// Try makes a request of size bytes. If it fails it must take nothing more from the upstream.
func (b *Base) Try(t *rapid.T, size int, request func() error) error {
	t.Helper()
	before := b.Up.Accounts()
	err := request()
	if now := b.Up.Accounts(); err != nil && now.Bytes > before.Bytes {
		t.Fatalf("a request of %d bytes failed, and %d bytes more are out: %v", size, now.Bytes-before.Bytes, err)
	}
	return err
}

// Bad asks for no bytes, for fewer, and for more than there are.
func (b *Base) Bad(t *rapid.T, none func(), try func(size int) error) {
	before := b.Up.Accounts()
	switch rapid.SampledFrom([]string{"zero", "negative", "absurd"}).Draw(t, "size") {
	case "zero":
		none()
		b.ExpectNoMore(t, before, 0)
	case "negative":
		size := draw.Negative(t)
		if err := try(size); !errors.Is(err, device.ErrSize) {
			t.Fatalf("a request of %d bytes: error does not wrap slab.ErrSize: %v", size, err)
		}
		b.ExpectNoMore(t, before, size)
	case "absurd":
		size := rapid.SampledFrom(draw.Absurd).Draw(t, "bytes")
		if err := try(size); !errors.Is(err, device.ErrSize) {
			ExpectNoRoom(t, size, err)
		}
	}
}

// ExpectNoMore fails if a request of size bytes, which has to be refused or is of no bytes, went upstream. Unless b
// is alone there may be less out than before.
func (b *Base) ExpectNoMore(t *rapid.T, before Accounts, size int) {
	t.Helper()
	now := b.Up.Accounts()
	if now.Calls != before.Calls || now.Bytes > before.Bytes || now.Ranges > before.Ranges || b.Alone && now != before {
		t.Fatalf("a request of %d bytes went upstream: %+v, before %+v", size, now, before)
	}
}

// Fails has the upstream fail at some call of a request. It may try again; if it gives up it has to say why, and
// the next step works.
func (b *Base) Fails(t *rapid.T, size int, request func() error) {
	t.Helper()
	f := DrawFault(t)
	b.Up.Arm(f)
	err := request()
	b.Up.Disarm()
	if !errors.Is(err, f.Err) {
		MayLackRoom(t, size, err)
	}
}

// Trims fails unless trim says how many bytes have gone upstream. It returns what it has drawn.
func (b *Base) Trims(t *rapid.T, trim func(idle int) int64) (idle int) {
	idle = rapid.IntRange(0, 2).Draw(t, "idle")
	before := b.Up.Accounts().Bytes
	n := trim(idle)
	if gone := before - b.Up.Accounts().Bytes; n != gone {
		t.Fatalf("Trim(%d) = %d, and %d bytes went upstream", idle, n, gone)
	}
	return idle
}

// Breach has the upstream break its contract at the next block, in one of some ways, and reports whether it has. A
// request may not ask for a block.
func (b *Base) Breach(t *rapid.T, request func() error, ways ...upstreamtest.Breach) (broke bool, err error) {
	if !b.Hostile {
		b.Skip(t, "the upstream is honest")
	}
	b.Up.Arm(Fault{Breach: rapid.SampledFrom(ways).Draw(t, "breach")})
	err = request()
	return b.Up.Disarm(), err
}
