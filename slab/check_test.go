package slab

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/device"
)

func TestCheckFindsWhoWritesBeyond(t *testing.T) {
	for _, strategy := range Strategies() {
		for _, c := range []struct {
			at   int
			want string
		}{{100, "after"}, {163, "after"}, {-1, "before"}, {-64, "before"}} {
			p := openPool(t, "mmap", Config{Strategy: strategy, Check: true})
			b, _ := p.Get(100)
			all := device.Bytes(device.Block{Region: b.Block().Region, Off: b.Block().Off - 64, Len: 228})
			all[64+c.at]++
			func() {
				defer func() {
					s := fmt.Sprint(recover())
					if !strings.HasPrefix(s, "slab: something wrote "+c.want+" a block of 100 bytes, allocated at ") ||
						!strings.Contains(s, "check_test.go:") {
						t.Errorf("%s: byte %d: %s", strategy, c.at, s)
					}
				}()
				b.Release()
			}()
			if s := p.Stats(); s.ActiveBlocks != 0 {
				t.Errorf("%s: %+v", strategy, s)
			}
			if err := mustGet(t, p, 100).Release(); err != nil {
				t.Errorf("%s: the pool does not go on: %v", strategy, err)
			}
			checkQuiet(t, p)
		}
	}
}

func TestCheckPoisonsWhatComesAndGoes(t *testing.T) {
	up := &source{Host: true}
	k := NewCheck(holderOn("exact", up, Config{}))
	b := mustAlloc(t, k, 100)
	m := device.Bytes(b)
	if !bytes.Equal(m, bytes.Repeat([]byte{poisonNew}, 100)) {
		t.Errorf("a new block has %x", m)
	}
	paint(m, 7)
	if k.Free(b); !bytes.Equal(m, bytes.Repeat([]byte{poisonFreed}, 100)) {
		t.Errorf("a freed block has %x", m)
	}
}

func TestCheckListsLeaksBySize(t *testing.T) {
	k := NewCheck(&source{})
	mustAlloc(t, k, 300)
	gone := mustAlloc(t, k, 200)
	mustAlloc(t, k, 100)
	k.Free(gone)
	l := k.Leaks()
	if len(l) != 2 || l[0].Bytes != 100 || l[1].Bytes != 300 || !strings.Contains(l[0].Site, "_test.go:") {
		t.Errorf("%+v", l)
	}
}
