package slab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// Buffers that are forgotten, or released too often, where they are shared.

// fanOut gets a packet and has three consumers use it, each by a handle of its own. It returns the line of the Get.
func fanOut(t *testing.T, p *Pool, n int, also func(PooledBuffer)) (line int) {
	t.Helper()
	_, _, line, _ = runtime.Caller(0)
	h, err := p.Get(n) // one line below
	if err != nil {
		t.Fatal(err)
	}
	var shares [3]PooledBuffer
	for i := range shares {
		if shares[i], err = h.Share(); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range shares {
		mustRelease(t, s)
		also(h)
	}
	return line + 1
}

func nothingMore(PooledBuffer) {}

// Small buffers that only the consumers release are told of once, with the place of the Get. Buffers that come back
// are not.
func TestLostSmallBuffersAreToldOnce(t *testing.T) {
	for line, told := range map[string]int{"device=mmap": 1, "device=mmap,profile_rate=1": 1, "device=mmap,on_forget=report": 0, "device=heap": 0} {
		p, l := openLogged(t, line)
		want := "on_forget=report"
		for i := range 2 * manyCollections {
			for k := range 3 {
				if at := fanOut(t, p, 64+(37*i+k)%3000, nothingMore); strings.Contains(line, "profile") {
					want = fmt.Sprintf("fanout_test.go:%d", at)
				}
			}
			p.pool.noticeGrowth()
			if n, _ := l.warnings(); n > 0 && i < 255 {
				t.Fatalf("%s: told after %d collections", line, i+1)
			}
		}
		n, text := l.warnings()
		if n != told || n > 0 && !(strings.Contains(text, "blocks of at most 4 KiB were not released") && strings.Contains(text, want)) {
			t.Errorf("%s: %d warnings: %s", line, n, text)
		}
	}
}

// On the Go heap all of them come back.
func TestPacketsThatNobodyReleasesComeBack(t *testing.T) {
	p := openPool(t, "heap", Config{})
	for i := range 1000 {
		fanOut(t, p, 64+30*i, nothingMore)
	}
	if !collect(p, func(s Stats) bool { return s.ActiveBlocks == 0 }) {
		t.Errorf("%+v", p.Stats())
	}
}

// The error of a pool that is full of small buffers names the key that finds forgotten ones.
func TestOutOfMemoryNamesWhatFindsSmallBuffers(t *testing.T) {
	for line, named := range map[string]bool{
		"device=mmap,max_bytes=1MiB": true, "device=mmap,max_bytes=1MiB,on_forget=report": false, "device=heap,max_bytes=1MiB": false,
	} {
		for _, n := range []int{1452, 20_000} {
			p := openLine(t, line)
			fillUp(t, p, n)
			if text := wantFull(t, p, n).Error(); strings.Contains(text, "with on_forget=report it does") != (named && n == 1452) {
				t.Errorf("%s, %d bytes: %s", line, n, text)
			}
		}
	}
}

// If each consumer releases the packet, too, the first of them ends it, the others are counted, and no byte of a next
// owner changes.
func TestPacketsThatAllReleaseHaveOneOwner(t *testing.T) {
	for _, line := range []string{"device=heap", "device=mmap", "device=heap,check=true", "device=mmap,check=true"} {
		p := openLine(t, line)
		const packets, late = 300, 3 // two consumers, and one when there is a next owner
		for i := range packets {
			var packet PooledBuffer
			ended := 0
			fanOut(t, p, 64+9*i, func(h PooledBuffer) {
				if packet = h; h.Release() == nil {
					ended++
				}
			})
			next := mustGet(t, p, packet.Len())
			binary.NativeEndian.PutUint64(next.Bytes(), uint64(i))
			err := packet.Release()
			if got := binary.NativeEndian.Uint64(next.Bytes()); got != uint64(i) || ended != 1 || !errors.Is(err, ErrReleased) {
				t.Fatalf("%s: %d became %d, %d Releases succeeded, then %v", line, i, got, ended, err)
			}
			mustRelease(t, next)
		}
		if s := p.Stats(); s.DoubleReleases != packets*late || s.ActiveBlocks != 0 {
			t.Errorf("%s: %+v", line, s)
		}
		check.Must(t, p.Close())
	}
}
