package slab

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/bufslab/bufslab/internal/check"
)

// A block cache, of which one path in a thousand is wrong: what finds the mistake, and after how long. Run it as it is,
// with -race and with -asan: docs/leaks.md has the table.

// mistakes are what the wrong path does with an entry that leaves the cache.
var mistakes = map[string]func(e *mistaken){
	"none":       func(e *mistaken) { _ = e.b.Release() },
	"late read":  func(e *mistaken) { m := e.b.Bytes(); _ = e.b.Release(); e.late = func() { e.sum += int(m[0]) } },
	"late write": func(e *mistaken) { m := e.b.Bytes(); _ = e.b.Release(); e.late = func() { m[0]++ } },
	"no handle":  func(e *mistaken) { m := e.b.Bytes(); e.b = PooledBuffer{}; e.late = func() { e.sum += int(m[0]) } },
	"no release": func(e *mistaken) { e.b = PooledBuffer{} },
}

// A mistaken is an entry. late is what the program does wrong with it some entries later.
type mistaken struct {
	b    PooledBuffer
	sum  int
	late func()
}

// signs are what says that a mistake was found; the first counts.
var signs = [][2]string{
	{"was never released", "the log"}, {"a use at offset", "guard"}, {"still reached", "guard"}, {"something wrote", "check"},
	{"DATA RACE", "-race"}, {"use-after-poison", "-asan"}, {"unexpected fault address", "a fault"},
}

func TestMistakesOfABlockCache(t *testing.T) {
	if name := os.Getenv("BUFSLAB_MISTAKE"); name != "" {
		cacheBlocks(t, mistakes[name])
		return
	}
	if os.Getenv("BUFSLAB_STRESS") == "" {
		t.Skip("it takes minutes: set BUFSLAB_STRESS")
	}
	lines := []string{"device=heap", "device=mmap", "device=heap,guard=1", "device=mmap,guard=1,on_forget=report", "device=mmap,guard=1000",
		"device=heap,check", "device=mmap,check"}
	if raceEnabled || sanitized {
		lines = lines[:2]
	}
	for _, name := range []string{"none", "late read", "late write", "no handle", "no release"} {
		for _, line := range lines {
			by, after := findMistake(t, name, line)
			if t.Logf("%-10s %-36s %-8s %v", name, line, by, after.Round(10*time.Millisecond)); name == "none" && by != "nothing" {
				t.Errorf("%s found a mistake where none is", by)
			}
		}
	}
}

// findMistake runs a child until it is found out, for ten seconds at most.
func findMistake(t *testing.T, name, line string) (by string, after time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	check.StartsItself(t)
	child := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestMistakesOfABlockCache$")
	child.Env = append(os.Environ(), "BUFSLAB_MISTAKE="+name, "BUFSLAB_MISTAKE_LINE="+line, "GORACE=halt_on_error=1")
	began := time.Now()
	out, err := child.CombinedOutput()
	if after = time.Since(began); ctx.Err() != nil {
		return "nothing", after
	}
	for _, sign := range signs {
		if bytes.Contains(out, []byte(sign[0])) {
			return sign[1], after
		}
	}
	t.Errorf("%s, %s: %v\n%s", name, line, err, out)
	return "?", after
}

// cacheBlocks is the child: entries come and go for ever, with some garbage. What is logged ends it.
func cacheBlocks(t *testing.T, wrong func(*mistaken)) {
	c := check.Ok(ParseConfig(os.Getenv("BUFSLAB_MISTAKE_LINE")))(t)
	c.Logger = slog.New(slog.NewTextHandler(fatalLog{}, nil))
	p := check.Ok(OpenConfig(c))(t)
	entries, r := make([]*mistaken, 1000), rand.New(rand.NewPCG(1, 2))
	var late []*mistaken
	var garbage []byte
	for n := 0; ; n++ {
		if len(late) > 0 && late[0].late != nil && n%100 == 0 {
			late[0].late()
			late = late[1:]
		}
		garbage = make([]byte, 1<<10)
		e := &entries[r.IntN(len(entries))]
		switch old := *e; {
		case old == nil:
		case r.IntN(1000) == 0:
			wrong(old)
			late = append(late, old)
		default:
			check.Must(t, old.b.Release())
		}
		b, err := p.Get(5<<10 + r.IntN(60<<10))
		check.Must(t, err)
		b.Bytes()[0] = byte(n)
		*e = &mistaken{b: b}
		_ = garbage
	}
}

// A fatalLog ends the process at the first warning.
type fatalLog struct{}

func (fatalLog) Write(b []byte) (int, error) {
	if strings.Contains(string(b), "level=WARN") || strings.Contains(string(b), "level=ERROR") {
		os.Stderr.Write(b)
		os.Exit(3)
	}
	return len(b), errors.ErrUnsupported
}
