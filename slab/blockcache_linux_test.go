package slab

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// A storage engine's cache of 1 GiB in blocks of 32 KiB, of which six times as many are replaced at random:
// collections meanwhile, resident bytes by live ones, and processor time, in a process for each kind of memory
// (cockroachdb/pebble#5631).
func TestBlockCacheFigures(t *testing.T) {
	if os.Getenv("BUFSLAB_STRESS") == "" {
		t.Skip("it takes a minute and 3 GiB: set BUFSLAB_STRESS")
	}
	kinds := []string{"make", "sync.Pool", "device=heap", "device=mmap"}
	if kind := os.Getenv("BUFSLAB_BLOCKS"); kind != "" {
		blockCacheFigures(t, kind)
		return
	}
	figures := map[string][3]float64{}
	for _, kind := range kinds {
		check.StartsItself(t)
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), "BUFSLAB_BLOCKS="+kind)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", kind, err, out)
		}
		_, line, _ := strings.Cut(string(out), "figures ")
		var f [3]float64
		if _, err := fmt.Sscan(line, &f[0], &f[1], &f[2]); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		figures[kind] = f
	}
	made := figures["make"]
	for _, kind := range kinds {
		f := figures[kind]
		t.Logf("%-11s %2.0f collections (%.2f of make), resident %.2f of what is live, processor time %.2f of make",
			kind, f[0], f[0]/made[0], f[1], f[2]/made[2])
	}
	if f := figures["device=mmap"]; f[1] > 1.1 || f[0] > made[0]/3 {
		t.Errorf("mmap: %v, make: %v", f, made)
	}
}

func blockCacheFigures(t *testing.T, kind string) {
	const size, live = 32 << 10, 32 << 10
	get, put := blocksOf(t, kind, size)
	cache := make([][]byte, live)
	replace := func(i int) {
		if cache[i] != nil {
			put(cache[i], i)
		}
		cache[i] = get(i)
		device.Fill(cache[i], byte(i))
	}
	for i := range cache {
		replace(i)
	}
	filled := collections()
	r := rand.New(rand.NewPCG(1, 2))
	for range 6 * live {
		replace(r.IntN(live))
	}
	var u unix.Rusage
	check.Must(t, unix.Getrusage(unix.RUSAGE_SELF, &u))
	t.Logf("figures %d %f %f", collections()-filled, float64(resident(t))/(size*live), float64(u.Utime.Nano()+u.Stime.Nano())/1e9)
	for i, b := range cache {
		checkPaint(t, b, byte(i), i)
		put(b, i)
	}
}

func collections() uint32 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.NumGC
}

// blocksOf returns what gets and puts the block at a place of the cache. It calls no helper of t, as these
// allocate.
func blocksOf(t *testing.T, kind string, size int) (get func(int) []byte, put func(m []byte, i int)) {
	switch kind {
	case "make":
		return func(int) []byte { return make([]byte, size) }, func([]byte, int) {}
	case "sync.Pool":
		all := sync.Pool{New: func() any { return new([32 << 10]byte) }}
		return func(int) []byte { return all.Get().(*[32 << 10]byte)[:] }, func(m []byte, _ int) { all.Put((*[32 << 10]byte)(m)) }
	}
	p := MustOpen(kind)
	t.Cleanup(func() { check.Must(t, p.Close()) })
	out := make([]PooledBuffer, 32<<10)
	get = func(i int) []byte {
		var err error
		if out[i], err = p.Get(size); err != nil {
			panic(err)
		}
		return out[i].Bytes()
	}
	return get, func(_ []byte, i int) {
		if err := out[i].Release(); err != nil {
			panic(err)
		}
	}
}
