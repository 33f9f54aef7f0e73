package pressure

import (
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// The recipe of docs/containers.md gives back soon, however often the collector runs because the limit has fallen to
// its least: the program of that page for a pool off the heap, in a process of its own, with its variables.
func TestRecipe(t *testing.T) {
	page := string(check.Ok(os.ReadFile("../docs/containers.md"))(t))
	env := regexp.MustCompile(`(?m)^    ([A-Z_]+=.*)$`).FindAllStringSubmatch(page, 2)
	if len(env) != 2 || !strings.Contains(page, "slab.OpenEnv()") || !strings.Contains(page, "pressure.AdjustMemoryLimit(0)()") ||
		!strings.Contains(page, "may be off the heap: `device=mmap,max_bytes=25%`") {
		t.Fatalf("the page has another recipe: %q", env)
	}
	if check.InChild(t, env[0][1], env[1][1]+",device=mmap") {
		recipe(t)
	}
}

// recipe has 750 MiB active beside a limit of 450 MiB, and then held, while the heap is in use.
func recipe(t *testing.T) {
	gave := make(chan time.Time, 1000)
	c := check.Ok(slab.ConfigFromEnv())(t)
	c.Hooks = &slab.Hooks{Pressure: func(string, int64, string) { gave <- time.Now() }}
	p := check.Ok(slab.OpenConfig(c))(t)
	defer p.Close()
	stop := AdjustMemoryLimit(0)
	defer stop()
	live := make([]*[64]byte, 1<<18)
	churn := func(n int) {
		for i := range n {
			live[i%len(live)] = new([64]byte)
		}
	}
	for round := range 2 {
		b := check.Ok(p.Get(750 << 20))(t) // of which no page is touched
		churn(1 << 19)
		check.Must(t, b.Release())
		at := time.Now()
		for len(gave) == 0 && time.Since(at) < 4*time.Second {
			churn(1 << 10)
		}
		if len(gave) == 0 {
			t.Fatalf("round %d: nothing was given back in %v", round, time.Since(at))
		}
		t.Logf("round %d: the first memory went back after %v", round, (<-gave).Sub(at))
		for p.Stats().HeldBytes > 1<<20 {
			p.FreeHeld()
		}
		for len(gave) > 0 {
			<-gave
		}
	}
	runtime.KeepAlive(live)
}
