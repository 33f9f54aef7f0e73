package growpool

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bufslab/bufslab/slab"
)

func TestIdleKeysLoseTheirBuffers(t *testing.T) {
	below := openSlab(t, "device=heap,strategy=direct")
	synctest.Test(t, func(t *testing.T) {
		p := New[string](below, Config{IdleAfter: time.Minute})
		defer p.Close()
		release(t, acquire[byte](t, p, "idle", 1000))
		leased := acquire[byte](t, p, "leased", 1000)
		for i := range 20 {
			mustGet[byte](t, p, "used", 1000)
			time.Sleep(10 * time.Second)
			synctest.Wait()
			if i < 5 { // for less than a minute
				wantStats(t, p, "idle", KeyStats{Misses: 1, Bytes: 1000})
			}
		}
		wantStats(t, p, "idle", KeyStats{Misses: 1})
		wantStats(t, p, "used", KeyStats{Misses: 1, Hits: 19, Bytes: 1000})
		wantStats(t, p, "leased", KeyStats{Misses: 1, Bytes: 1000})
		if s := below.Stats(); s.ActiveBytes != 2000 {
			t.Errorf("%+v", s)
		}
		release(t, leased)
		time.Sleep(90 * time.Second)
		synctest.Wait()
		if u := p.MemoryUsage(); u.TotalBytes != 0 {
			t.Errorf("%+v", u)
		}
		release(t, acquire[byte](t, p, "idle", 10))
		wantStats(t, p, "idle", KeyStats{Misses: 2, Bytes: 10})
	})
}

func TestIdleKeysStayUntilThen(t *testing.T) {
	below := openSlab(t, "device=heap")
	for _, at := range []time.Duration{0, 1, 14 * time.Second, 15*time.Second - 1, 15 * time.Second, 100 * time.Second} {
		synctest.Test(t, func(t *testing.T) { keyStaysFrom(t, below, at) })
	}
}

// keyStaysFrom has a key used once, at a time.
func keyStaysFrom(t *testing.T, below *slab.Pool, at time.Duration) {
	p := New[string](below, Config{IdleAfter: time.Minute})
	time.Sleep(at)
	synctest.Wait()
	v := mustGet[byte](t, p, "k", 1000)
	time.Sleep(time.Minute - 1)
	synctest.Wait()
	if !v.Valid() {
		t.Errorf("used after %v: gone too early", at)
	}
	time.Sleep(15*time.Second + 1)
	synctest.Wait()
	if v.Valid() {
		t.Errorf("used after %v: still there a quarter later", at)
	}
	p.Close()
	time.Sleep(time.Hour) // no timer is left
}

// A sweep that is under way when the pool is closed sets its clock again: the sweep after it is the last.
func TestASweepBesideCloseIsTheLast(t *testing.T) {
	below := openSlab(t, "device=heap")
	synctest.Test(t, func(t *testing.T) {
		p := New[string](below, Config{IdleAfter: time.Minute})
		v := mustGet[byte](t, p, "k", 1000)
		p.closed.Store(true) // and the clock goes on
		time.Sleep(20 * time.Second)
		synctest.Wait()
		p.closed.Store(false)
		time.Sleep(time.Hour)
		synctest.Wait()
		if !v.Valid() {
			t.Error("there are sweeps after it")
		}
		p.Close()
	})
}

// The clock does not keep a pool alive, nor does the cache.
func TestForgottenPoolsGo(t *testing.T) {
	below := openSlab(t, "device=heap")
	gone := make(chan struct{}, 2)
	for _, c := range []Config{{IdleAfter: time.Hour}, {MaxBytes: 1 << 20}} {
		p := New[int](below, c)
		if _, err := Get[byte](p, 1, 1<<10); err != nil {
			t.Fatal(err)
		}
		runtime.AddCleanup(p, func(int) { gone <- struct{}{} }, 0)
	}
	collect()
	<-gone
	<-gone
}
