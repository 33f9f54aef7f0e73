package slab

import "testing"

// An idle pool holds nothing after three collections.
func TestIdlePoolGivesBackAfterThreeCollections(t *testing.T) {
	for _, dev := range []string{"heap", "mmap", "mmap:fixed"} {
		for _, s := range Strategies()[1:] {
			p := openPool(t, dev, Config{Strategy: s})
			kept := mustGet(t, p, 100)
			for range 100 {
				mustGet(t, p, 300<<10).Release()
				mustGet(t, p, 3<<10).Release()
			}
			kept.Release()
			if p.Stats().HeldBytes == 0 {
				t.Errorf("%s,%s: nothing was held", dev, s)
			}
			for range 3 { // the pool hears of a collection after it
				epochs := p.c.epochs.Load()
				cycle()
				eventually(t, "an epoch ends", func() bool { return p.c.epochs.Load() > epochs })
			}
			if n := p.Stats().ManagedBytes; n != 0 {
				t.Errorf("%s,%s: %d bytes are managed", dev, s, n)
			}
		}
	}
}

// A pool in use keeps what it uses, whatever processor its goroutine is moved to.
func TestPoolInUseKeepsWhatItUses(t *testing.T) {
	p := openPool(t, "heap", Config{})
	const rounds = 50
	for range rounds {
		for range 10 {
			mustGet(t, p, 300<<10).Release()
		}
		cycle()
	}
	if s := p.Stats(); s.UpstreamAllocs > rounds/5 {
		t.Errorf("%+v", s)
	}
}
