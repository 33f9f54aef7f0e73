package slab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// A group of version 1 falls from 512 to 256 MiB and rises to 1 GiB while eight goroutines want 140 MiB, then 300. A
// bound that is a share follows: calls are refused, and the process lives. With a bound that stays it is killed.
func TestALimitThatMoves(t *testing.T) {
	if dir := os.Getenv("BUFSLAB_POD"); dir != "" {
		moves(t, dir)
		return
	}
	if os.Getenv("BUFSLAB_STRESS") == "" {
		t.Skip("it takes half a minute: set BUFSLAB_STRESS")
	}
	for line, wantKilled := range map[string]bool{
		"device=mmap,pressure=on,max_bytes=75%":    false,
		"device=mmap,pressure=on,max_bytes=384MiB": true,
	} {
		killed := 0
		for range 5 {
			out, gone := runInGroup(t, 512, t.Name(), "BUFSLAB_POD_LINE="+line)
			if t.Logf("%s, killed: %t\n%s", line, gone, out); gone {
				killed++
			}
		}
		t.Logf("%s: %d of 5 killed", line, killed)
		if killed > 0 && !wantKilled {
			t.Errorf("%s was killed", line)
		}
	}
}

// moves is the child.
func moves(t *testing.T, dir string) {
	check.Must(t, os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0))
	p := openLine(t, os.Getenv("BUFSLAB_POD_LINE"))
	var want, got, refused atomic.Int64
	want.Store(140)
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			var out []PooledBuffer
			for ctx.Err() == nil {
				for len(out) > 0 && int64(len(out)) >= want.Load()/8 {
					_ = out[0].Release()
					out = out[1:]
				}
				b, err := p.Get(1 << 20)
				if err != nil {
					refused.Add(1)
					time.Sleep(time.Millisecond)
					continue
				}
				got.Add(1)
				device.Fill(b.Bytes(), 1)
				out = append(out, b)
			}
			releaseAll(t, out)
		})
	}
	phase := func(mib int64) {
		began := time.Now()
		tries := 1
		for ; os.WriteFile(filepath.Join(dir, "memory.limit_in_bytes"), fmt.Append(nil, mib<<20), 0) != nil; tries++ {
			time.Sleep(10 * time.Millisecond) // more is in use
		}
		set := time.Now()
		for strings.Contains(p.Name(), "%") && p.Stats().MaxBytes != mib<<20*3/4 {
			time.Sleep(time.Millisecond)
		}
		fmt.Printf("%d MiB: set after %d tries in %v, followed after %v\n", mib, tries, set.Sub(began), time.Since(set))
		want.Store(300)
		got.Store(0)
		refused.Store(0)
		time.Sleep(3 * time.Second)
		fmt.Printf("%d Gets, %d refused, %d MiB managed of %d\n", got.Load(), refused.Load(), p.Stats().ManagedBytes>>20, p.Stats().MaxBytes>>20)
	}
	time.Sleep(time.Second)
	phase(256)
	phase(1024)
	stop()
	all.Wait()
	check.Must(t, p.Close())
}
