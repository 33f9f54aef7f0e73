package slab

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab/internal/handle"
)

// lateUses are mistakes that a sanitizer finds, each in a process of its own, which it ends.
var lateUses = map[string]func(t *testing.T){
	"a write": func(t *testing.T) {
		p := openPool(t, "heap", Config{})
		b := mustGet(t, p, 5000)
		m, done := b.Bytes(), make(chan bool)
		go func() {
			m[4321] = 1
			close(done)
		}()
		mustRelease(t, b)
		<-done
	},
	"a read": func(t *testing.T) {
		p := openPool(t, "heap", Config{})
		b := mustGet(t, p, 5000)
		m, done := b.Bytes(), make(chan byte)
		go func() { done <- m[1] }()
		mustRelease(t, b)
		<-done
	},
	"a write beside Put": func(t *testing.T) {
		p := openPool(t, "heap", Config{})
		m, err := p.GetBytes(100)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan bool)
		go func() {
			m[99] = 1
			close(done)
		}()
		if err := p.Put(m); err != nil {
			t.Fatal(err)
		}
		<-done
	},
	"a write to what no cache keeps": func(t *testing.T) {
		p := openPool(t, "heap", Config{Strategy: "exact"})
		b := mustGet(t, p, 5000)
		m, done := b.Bytes(), make(chan bool)
		go func() {
			m[0] = 1
			close(done)
		}()
		mustRelease(t, b)
		<-done
	},
	"none": func(t *testing.T) {
		p := openPool(t, "heap", Config{})
		b := mustGet(t, p, 5000)
		m, done := b.Bytes(), make(chan bool)
		go func() {
			m[0] = 1
			close(done)
		}()
		<-done
		mustRelease(t, b)
	},
}

// The race detector finds a use that is not ordered with Release, whoever comes first.
func TestRacesWithReleaseAreFound(t *testing.T) {
	if !raceEnabled {
		t.Skip("go test -race has the race detector")
	}
	for name := range lateUses {
		out, err := lateUse(t, name)
		if found := strings.Contains(out, "DATA RACE"); found == (name == "none") || found == (err == nil) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// poisonedUses are mistakes that the address sanitizer finds.
var poisonedUses = map[string]func(t *testing.T){
	"a read of what a cache has":     func(t *testing.T) { readLate(t, Config{Strategy: "sizeclass"}, 100) },
	"a read of what a page heap has": func(t *testing.T) { readLate(t, Config{Strategy: "slab", CacheBytes: -1}, 50_000) },
	"a read of what a list has":      func(t *testing.T) { readLate(t, Config{Strategy: "exact"}, 50_000) },
	"a read after Put": func(t *testing.T) {
		p := openPool(t, "mmap", Config{})
		m, err := p.GetBytes(100)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Put(m); err != nil || m[99] == 1 {
			t.Fatal(err)
		}
	},
	"a read beyond the next owner's bytes": func(t *testing.T) {
		p := openPool(t, "mmap", Config{})
		b := mustGet(t, p, 4000)
		m := b.Bytes()
		mustRelease(t, b)
		if b = mustGet(t, p, 3900); m[3999] == 1 {
			mustRelease(t, b)
		}
	},
	"no late use": func(t *testing.T) {
		for range 3 {
			p := openPool(t, "mmap", Config{})
			for _, n := range []int{100, 50_000, 3 << 20, 100} {
				b := mustGet(t, p, n)
				clear(b.Bytes())
				mustRelease(t, b)
			}
			p.FreeHeld()
			p.Close()
		}
	},
}

func readLate(t *testing.T, c Config, size int) {
	p := openPool(t, "mmap", c)
	b, other := mustGet(t, p, size), mustGet(t, p, size) // keeps what they share
	m := b.Bytes()
	mustRelease(t, b)
	if m[size-1] == 1 {
		mustRelease(t, other)
	}
}

// The address sanitizer finds a use after Release off the Go heap, until the memory has another
// owner.
func TestUsesOfPoisonedMemoryAreFound(t *testing.T) {
	if !handle.Sanitized {
		t.Skip("go test -asan has the address sanitizer")
	}
	for name := range poisonedUses {
		out, err := lateUse(t, name)
		if found := strings.Contains(out, "use-after-poison"); found == (name == "no late use") || found == (err == nil) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

const lateUseVariable = "BUFSLAB_LATE_USE"

// lateUse makes the mistake in a process of its own, and returns what that says.
func lateUse(t *testing.T, name string) (out string, err error) {
	t.Helper()
	check.StartsItself(t)
	c := exec.Command(os.Args[0], "-test.run=^TestLateUse$", "-test.count=1")
	c.Env = append(os.Environ(), lateUseVariable+"="+name)
	text, err := c.CombinedOutput()
	return string(text), err
}

// TestLateUse is the other process.
func TestLateUse(t *testing.T) {
	name := os.Getenv(lateUseVariable)
	if name == "" {
		t.Skip("it makes the mistakes of other tests")
	}
	if f := lateUses[name]; f != nil {
		f(t)
		return
	}
	poisonedUses[name](t)
}
