package slab

import (
	"bytes"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// Every block of what promises alignment begins at a multiple of it, in a pool and of
// a strategy by itself.
func TestBlocksAreAligned(t *testing.T) {
	for _, dev := range []string{"heap", "mmap", "mmap:fixed"} {
		for _, s := range []string{"sizeclass", "bestfit", "slab"} {
			for _, align := range []int{0, 16, 64, 512, 4096} {
				c := Config{Device: dev, Strategy: s, Align: align}
				p, a := openPool(t, dev, c), strategyOn(s, openDevice(t, dev), c)
				r := rand.New(rand.NewPCG(1, uint64(align)))
				for range 300 {
					n := 1 + r.IntN(1<<r.IntN(20))
					want := align
					if want == 0 {
						want = 16
						if s == "sizeclass" && n >= 64 {
							want = 64
						}
					}
					b, k := mustGet(t, p, n), mustAlloc(t, a, n)
					for _, m := range [][]byte{b.Bytes(), device.Bytes(k)} {
						if at := uintptr(unsafe.Pointer(unsafe.SliceData(m))); at%uintptr(want) != 0 {
							t.Fatalf("%s on %s, align %d: %d bytes at %x", s, dev, align, n, at)
						}
					}
					if r.IntN(2) == 0 {
						b.Release()
						a.Free(k)
					}
				}
			}
		}
	}
}

// fussy is a device with needs of its own.
type fussy struct {
	device.Device
	align    int
	deferred bool
}

func (f fussy) Traits() device.Traits { return device.Traits{Align: f.align, Deferred: f.deferred} }

func openFussy(t *testing.T, align int, deferred bool) fussy {
	t.Helper()
	return fussy{openDevice(t, "sim:64MiB"), align, deferred}
}

// Every block of every pool begins where the device can use it, with and
// without canaries, and so do those of a strategy by itself.
func TestBlocksAreAlignedAsTheDeviceNeeds(t *testing.T) {
	sizes := []int{1, 15, 100, 128, 500, 1000, 5000, 33 << 10, 200_001}
	for _, s := range Strategies() {
		for _, c := range []Config{{}, {CacheBytes: -1}, {Check: true}, {Align: 8192 / 2}} {
			if c.Strategy = s; c.Align > 0 && onlyWith("cache_bytes")(c) != "" {
				continue
			}
			p := mustOpen(t, openFussy(t, 512, false), c)
			for i := range 100 {
				b := mustGet(t, p, sizes[i%len(sizes)])
				if off := b.Block().Off; off%max(512, c.Align) != 0 {
					t.Fatalf("%s: %d bytes at offset %d", c, b.Len(), off)
				}
				if i%3 == 0 {
					b.Release()
				}
			}
		}
		var c Config
		if onlyWith("cache_bytes")(Config{Strategy: s}) == "" {
			c.Align = 16 // less than the device needs
		}
		a := strategyOn(s, openFussy(t, 512, false), c)
		for i := range 100 {
			if b := mustAlloc(t, a, sizes[i%len(sizes)]); b.Off%512 != 0 {
				t.Fatalf("%s by itself: %d bytes at offset %d", s, b.Len, b.Off)
			}
		}
	}
}

func TestAlignBelowTheDevicesIsAFault(t *testing.T) {
	var e *ConfigError
	_, err := Open(openFussy(t, 256, false), Config{Align: 64})
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "align=64") || !strings.Contains(err.Error(), "256") {
		t.Errorf("%v; want a fault with both numbers", err)
	}
	if _, err := Open(openFussy(t, 8, false), Config{Align: 16}); err != nil {
		t.Error(err)
	}
}

func TestPoolExplainsItsDevice(t *testing.T) {
	p := mustOpen(t, openFussy(t, 256, false), Config{})
	text := p.Explain()
	if !strings.Contains(text, "256") || !strings.Contains(text, "as device sim:64MiB needs") || strings.Contains(text, "warning") {
		t.Error(text)
	}
}

// Explain names each key that is in effect, also one that is left out.
func TestExplainNamesWhatIsLeftOut(t *testing.T) {
	for name, p := range map[string]*Pool{
		"mmap":                      openPool(t, "mmap", Config{Strategy: "sizeclass"}),
		"a device that needs 16":    mustOpen(t, openFussy(t, 16, false), Config{Strategy: "sizeclass"}),
		"a device that needs 8":     mustOpen(t, openFussy(t, 8, false), Config{Strategy: "slab"}),
		"heap":                      openPool(t, "heap", Config{}),
		"a device that needs 4,096": mustOpen(t, openFussy(t, 4096, false), Config{}),
	} {
		for _, key := range []string{"align", "max_bytes", "max_held", "guard", "trim_after"} {
			if text := p.Explain(); !strings.Contains(text, "\n"+key+" ") {
				t.Errorf("%s: %s is missing:\n%s", name, key, text)
			}
		}
	}
}

// A deferred device is warned of when the pool is opened and in Explain; others are not.
func TestPoolWarnsOfADeferredDevice(t *testing.T) {
	var log bytes.Buffer
	old := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(old)
	p, err := Open(openFussy(t, 1, false), Config{})
	if err != nil || log.Len() != 0 || strings.Contains(p.Explain(), "warning") {
		t.Errorf("%v, %s%s", err, &log, p.Explain())
	}
	p, err = Open(NewLimit(openFussy(t, 1, true), 1<<20), Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{log.String(), p.Explain()} {
		if !strings.Contains(text, "device sim:64MiB finds memory for a block when it is first used") {
			t.Errorf("no warning in %q", text)
		}
	}
}

// A strategy by itself has the alignment that is asked for, or its own, and what the device needs if that is more.
func TestAlignOfAStrategyByItself(t *testing.T) {
	for _, c := range []struct{ device, asked, want int }{{1, 0, 16}, {8, 0, 16}, {8, 16, 16}, {256, 0, 256}, {256, 16, 256}, {256, 512, 512}} {
		if got := (Config{Align: c.asked}).forStrategy("slab", openFussy(t, c.device, false)).Align; got != c.want {
			t.Errorf("align=%d on a device that needs %d: %d, want %d", c.asked, c.device, got, c.want)
		}
	}
}
