//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/bufslab/bufslab/slab"
)

// out is how many buffers a goroutine of churn has, of sizes from least to most, log-uniform.
const (
	out         = 64
	least, most = 64, 1 << 20
	page        = 4096
)

// churnShare prints what churn took, as programs prints what one of its programs took.
func churnShare(w io.Writer, kind, share string, ops int) error {
	percent, err := strconv.Atoi(share)
	if err != nil || percent < 0 || percent > 100 {
		return fmt.Errorf("a share of %q, not 0 to 100", share)
	}
	p, err := slab.OpenConfig(slab.Config{Device: kind})
	if err != nil {
		return err
	}
	defer p.Close()
	begin := time.Now()
	if err := churn(p, percent, ops); err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(took{float64(ops), time.Since(begin).Seconds()})
}

// churn has a goroutine a processor replace its buffers at random, and touch a share of each.
func churn(p *slab.Pool, percent, ops int) (failed error) {
	var all sync.WaitGroup
	var once sync.Once
	n := runtime.GOMAXPROCS(0)
	for i := range n {
		all.Go(func() {
			if err := replace(p, rand.New(rand.NewPCG(uint64(i), 3)), percent, ops/n); err != nil {
				once.Do(func() { failed = err })
			}
		})
	}
	all.Wait()
	return failed
}

func replace(p *slab.Pool, r *rand.Rand, percent, ops int) error {
	var mine [out]slab.PooledBuffer
	defer func() {
		for _, b := range mine {
			_ = b.Release() // or there is none
		}
	}()
	for range ops {
		at := &mine[r.IntN(out)]
		_ = at.Release()
		b, err := p.Get(int(least * math.Pow(most/least, r.Float64())))
		if err != nil {
			return err
		}
		m := b.Bytes()
		for i := 0; i < len(m)*percent/100; i += page {
			m[i] = 1
		}
		*at = b
	}
	return nil
}
