package slab

import (
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
			b := mustGet(t, p, 100)
			all := device.Bytes(device.Block{Region: b.Block().Region, Off: b.Block().Off - 64, Len: 228})
			all[64+c.at]++
			func() {
				defer func() {
					s := fmt.Sprint(recover())
					if !strings.HasPrefix(s, "slab: something wrote "+c.want+" a block of 100 bytes, allocated at ") ||
						!strings.Contains(s, "pool_test.go:") {
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
	up := &fake{host: true}
	k := NewCheck(NewExact(up, Config{}))
	b := mustAlloc(t, k, 100)
	m := device.Bytes(b)
	for _, v := range m {
		if v != poisonNew {
			t.Fatalf("a new block has %#x", v)
		}
	}
	paint(m, 7)
	k.Free(b)
	for _, v := range m {
		if v != poisonFreed {
			t.Fatalf("a freed block has %#x", v)
		}
	}
}

func TestCheckListsLeaksBySize(t *testing.T) {
	k := NewCheck(&fake{})
	mustAlloc(t, k, 300)
	gone := mustAlloc(t, k, 200)
	mustAlloc(t, k, 100)
	k.Free(gone)
	l := k.Leaks()
	if len(l) != 2 || l[0].Bytes != 100 || l[1].Bytes != 300 || !strings.Contains(l[0].Site, "_test.go:") {
		t.Errorf("%+v", l)
	}
}
