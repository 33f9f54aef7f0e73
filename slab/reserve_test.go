package slab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

var heapStrategies = []string{"bestfit", "slab"}

// A reserve is taken when the pool is opened, as one block or of one range. Nothing within it
// takes another call. It goes back as all held memory does, and does not come again.
func TestAReserveIsTakenAtOpenAndHeld(t *testing.T) {
	const n = 8 << 20
	for _, dev := range []string{"heap", "mmap", "virtual", "virtual:fixed", "sim"} {
		for _, name := range heapStrategies {
			for what, giveBack := range map[string]func(p *Pool){
				"FreeHeld": (*Pool).FreeHeld, "StopHolding": (*Pool).StopHolding, "Trim": func(p *Pool) { p.Trim(0) },
			} {
				t.Run(dev+","+name+","+what, func(t *testing.T) {
					p := openPool(t, dev, Config{Strategy: name, Reserve: "8MiB"})
					if s := p.Stats(); s.ManagedBytes != n || s.HeldBytes != n || s.UpstreamAllocs != 1 {
						t.Errorf("opened with %+v", s)
					}
					list := []PooledBuffer{mustGet(t, p, n/2), mustGet(t, p, n/4), mustGet(t, p, n/4-64)}
					if s := p.Stats(); s.UpstreamAllocs != 1 || s.ManagedBytes != n {
						t.Errorf("a reserve of %d did not do: %+v", n, s)
					}
					releaseAll(t, list)
					giveBack(p)
					checkNothing(t, p)
					mustRelease(t, mustGet(t, p, 100))
					if s := p.Stats(); s.ManagedBytes >= n {
						t.Errorf("it came again: %+v", s)
					}
				})
			}
		}
	}
}

// What a range has of it beyond what is in use goes back by decommit.
func TestWhatIsNotUsedOfAReserveIsDecommitted(t *testing.T) {
	p := openPool(t, "virtual", Config{Strategy: "bestfit", Reserve: "64MiB"})
	b := mustGet(t, p, 1<<20)
	p.FreeHeld()
	if s := p.Stats(); s.ManagedBytes != 1<<20 {
		t.Errorf("1 MiB is in use, %+v", s)
	}
	mustRelease(t, b)
}

// Beyond the reserve a pool grows by its miss budget.
func TestAPoolGrowsBeyondItsReserve(t *testing.T) {
	p := openPool(t, "virtual", Config{Strategy: "bestfit", Reserve: "1MiB"})
	releaseAll(t, []PooledBuffer{mustGet(t, p, 1<<20), mustGet(t, p, 1<<20)})
	if s := p.Stats(); s.UpstreamAllocs != 2 {
		t.Errorf("%+v", s)
	}
}

func TestReservesThatAConfigRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"reserve=0":                                     "want a size or learned:FILE or none",
		"reserve=learned:":                              "want a size or learned:FILE or none",
		"reserve=much":                                  "want a size or learned:FILE or none",
		"device=heap,reserve=1MiB":                      "strategy sizeclass has no use for it",
		"strategy=direct,reserve=learned:x":             "strategy direct has no use for it",
		"strategy=slab,reserve=2MiB,max_bytes=1MiB":     "more than max_bytes",
		"strategy=slab,reserve=2MiB,max_bytes=1":        "more than max_bytes",
		"strategy=slab,reserve=2MiB,max_held=1MiB":      "more than max_held",
		"strategy=slab,reserve=2MiB,max_held=0":         "more than max_held",
		"strategy=bestfit,reserve=2MiB,max_bytes=2MiB":  "",
		"strategy=slab,reserve=none,max_bytes=1":        "",
		"strategy=slab,reserve=learned:x,max_bytes=10B": "",
	} {
		_, err := ParseConfig(line)
		var e *ConfigError
		if want == "" && err != nil || want != "" && (!errors.As(err, &e) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// Without room for a size Open fails, and so it does if the record file cannot be created:
// then nothing is left upstream.
func TestOpenWithoutItsReserveLeavesNothing(t *testing.T) {
	for _, c := range []Config{
		{Reserve: "2MiB"}, {Reserve: "1MiB", Record: filepath.Join(t.TempDir(), "none", "trace.csv")},
	} {
		for _, dev := range []string{"virtual:1MiB", "virtual:fixed,1MiB"} {
			c.Strategy = "slab"
			d := openDevice(t, dev)
			_, err := Open(d, c)
			if c.Record == "" && !errors.Is(err, device.ErrOutOfMemory) || err == nil {
				t.Errorf("%s: %v", dev, err)
			}
			if free, total, _ := d.MemInfo(); free != total {
				t.Errorf("%s: %d bytes are left", dev, total-free)
			}
		}
	}
}

func TestNewStrategyTakesAReserve(t *testing.T) {
	s := holderOn("bestfit", openDevice(t, "virtual"), Config{Reserve: "1MiB"})
	if u := s.Usage(); u.HeldBytes != 1<<20 {
		t.Errorf("%+v", u)
	}
	if _, err := NewStrategy("bestfit", openDevice(t, "virtual:1KiB"), Config{Reserve: "1MiB"}); !outOfMemory(err) {
		t.Error(err)
	}
}

// use runs a program that has n bytes at most, in a pool with a learned reserve. It returns
// what the pool had when it was opened.
func use(t *testing.T, file, more string, n int) (reserved int64) {
	t.Helper()
	p := openLine(t, "device=virtual,strategy=bestfit,cache_bytes=0,reserve=learned:"+file+more)
	reserved = p.Stats().ManagedBytes
	a := mustGet(t, p, n/2)
	mustRelease(t, mustGet(t, p, n-n/2))
	mustRelease(t, a)
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	return reserved
}

// A pool without a file begins with nothing, and leaves the most bytes that were in use. The
// next one takes a hundredth more, in whole pages, and leaves the same again; one that used less leaves less.
func TestAReserveIsLearned(t *testing.T) {
	file := filepath.Join(t.TempDir(), "peak")
	for i, c := range []struct{ use, want int }{{100 << 20, 0}, {100 << 20, 101 << 20}, {50 << 20, 101 << 20}, {50 << 20, 50<<20 + 512<<10}} {
		if got := use(t, file, "", c.use); got != int64(c.want) {
			t.Errorf("run %d began with %d bytes, want %d", i, got, c.want)
		}
		if text, err := os.ReadFile(file); err != nil || string(text) != fmt.Sprintf("bufslab peak 1 %d\n", c.use) {
			t.Errorf("run %d left %q, %v", i, text, err)
		}
	}
	if list, _ := os.ReadDir(filepath.Dir(file)); len(list) != 1 {
		t.Errorf("%d files beside %s", len(list)-1, file)
	}
}

// Blocks that grow in place count for the peak.
func TestAReserveIsLearnedFromBlocksThatGrow(t *testing.T) {
	file := filepath.Join(t.TempDir(), "peak")
	p := openLine(t, "device=virtual,strategy=bestfit,cache_bytes=0,reserve=learned:"+file)
	b := mustGet(t, p, 1<<20)
	if b, err := b.Grow(2 << 20); err != nil {
		t.Error(b, err)
	}
	p.Close()
	if text, _ := os.ReadFile(file); string(text) != "bufslab peak 1 2097152\n" {
		t.Errorf("%q", text)
	}
}

// Bounds hold: a learned reserve takes what they leave of it, and nothing where there is no room.
func TestALearnedReserveIsAHint(t *testing.T) {
	file := filepath.Join(t.TempDir(), "peak")
	use(t, file, "", 100<<20)
	for more, want := range map[string]int64{",max_bytes=60MiB": 60 << 20, ",max_held=40MiB": 40 << 20} {
		if got := use(t, file, more, 1<<20); got != want {
			t.Errorf("%s: %d bytes, want %d", more, got, want)
		}
		use(t, file, "", 100<<20)
	}
	p := mustOpen(t, openDevice(t, "virtual:10MiB"), Config{Strategy: "slab", Reserve: "learned:" + file})
	checkNothing(t, p)
	p.Close()
	if text, _ := os.ReadFile(file); string(text) != "bufslab peak 1 104857600\n" {
		t.Errorf("a pool that used nothing left %q", text)
	}
}

// A file that is something else is an error before anything happens, and stays as it is.
func TestADamagedPeakIsAnError(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "peak")
	for _, text := range []string{"", "\n", "bufslab peak 1 \n", "bufslab peak 1 5", "bufslab peak 2 5\n", "bufslab peak 1 -5\n",
		"bufslab peak 1 0\n", "bufslab peak 1 99999999999999999999\n", "bufslab peak 1 9223372036854775807\n", "bufslab peak 1 5\n6\n", strings.Repeat("x", 1000)} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		record := filepath.Join(dir, "trace.csv")
		_, err := Open(openDevice(t, "virtual"), Config{Strategy: "slab", Reserve: "learned:" + file, Record: record})
		var e *FileError
		if !errors.As(err, &e) || e.File != file || errors.Unwrap(err) == nil {
			t.Errorf("%.30q: %v", text, err)
		}
		if _, err := os.Stat(record); err == nil {
			t.Fatalf("%.30q: the record file was created", text)
		}
		if now, _ := os.ReadFile(file); string(now) != text {
			t.Errorf("%.30q became %q", text, now)
		}
	}
}

// Close says if the peak cannot be written.
func TestAPeakThatCannotBeWrittenIsAnError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	p := openLine(t, "device=virtual,strategy=slab,reserve=learned:"+filepath.Join(dir, "peak"))
	mustRelease(t, mustGet(t, p, 1000))
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// A budget can be used up whatever reserve says, by blocks of any large size that divides it: where the
// reserve would be one piece that keeps them from the rest, Open refuses it, with a sentence. What was
// learned is not taken then.
func TestAReserveDoesNotKeepBlocksFromTheBudget(t *testing.T) {
	const most = 16 << 20
	for _, dev := range []string{"heap", "mmap", "mmap:fixed", "sim"} {
		needRange(t, dev)
		for _, name := range heapStrategies {
			for _, reserve := range []string{"none", "1MiB", "8MiB", "15MiB", "16MiB"} {
				c := check.Ok(ParseConfig(fmt.Sprintf("strategy=%s,cache_bytes=0,max_bytes=16MiB,reserve=%s", name, reserve)))(t)
				p, err := Open(openDevice(t, dev), c)
				var e *ConfigError
				if refused := dev != "mmap" && (reserve == "8MiB" || reserve == "15MiB"); refused {
					if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), "slab: config: reserve="+reserve+": of one piece that does not grow") {
						t.Errorf("%s, %s, reserve=%s: %v", dev, name, reserve, err)
					}
					continue
				}
				check.Must(t, err)
				for _, parts := range []int{1, 2, 3, 5, 7, 11, 16} {
					var list []PooledBuffer
					for range parts {
						list = append(list, mustGet(t, p, most/parts&^4095))
					}
					releaseAll(t, list)
					p.FreeHeld()
				}
				p.Close()
			}
		}
	}
	file := filepath.Join(t.TempDir(), "peak")
	check.Must(t, os.WriteFile(file, []byte("bufslab peak 1 8000000\n"), 0o600))
	p := openPool(t, "heap", Config{Strategy: "slab", Reserve: "learned:" + file, MaxBytes: most})
	if s := p.Stats(); s.ManagedBytes != 0 {
		t.Errorf("%+v", s)
	}
}
