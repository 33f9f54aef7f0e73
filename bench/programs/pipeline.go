package main

import (
	"compress/flate"
	"errors"
	"hash/crc32"
	"io"
	"sync"
	"time"
)

// A parcel is a chunk on its way through the stages.
type parcel struct {
	began time.Time
	sum   uint32 // of what was read
	raw   block
	small buffer // compressed
	err   error
}

const inFlight = 12 // parcels before a stage waits for the next

// pipeline has one goroutine read chunks of 48 to 900 KiB, two compress them, and one write
// them. No goroutine gives back a buffer that it got.
func pipeline(j *job) error {
	read, compressed := make(chan parcel, inFlight), make(chan parcel, inFlight)
	go func() {
		defer close(read)
		c := j.newClient(0, 1)
		for range j.ops {
			read <- j.readChunk(c)
		}
	}()
	go func() {
		defer close(compressed)
		var workers sync.WaitGroup
		for range 2 {
			workers.Go(func() { j.compress(read, compressed) })
		}
		workers.Wait()
	}()
	return j.write(compressed)
}

func (j *job) readChunk(c *client) (p parcel) {
	p.began = time.Now()
	n := between(c.Rand, 48<<10, 900<<10)
	if p.raw, p.err = j.get(n); p.err != nil {
		return p
	}
	copy(p.raw.bytes, some(text(), c.Rand, n))
	p.sum = sum(p.raw.bytes)
	c.live.change(c.Rand)
	return p
}

func (j *job) compress(from <-chan parcel, to chan<- parcel) {
	w, err := flate.NewWriter(io.Discard, flate.BestSpeed)
	for p := range from {
		if p.err = errors.Join(p.err, err); p.err == nil {
			p.small = j.buffer()
			w.Reset(p.small)
			_, bad := w.Write(p.raw.bytes)
			p.err = errors.Join(bad, w.Close(), j.put(p.raw))
		}
		to <- p
	}
}

// write looks at one chunk in so many as a reader of the file would: to do so with all would
// take more time than the rest.
func (j *job) write(from <-chan parcel) (failed error) {
	const looked = 10
	n := 0
	for p := range from {
		if p.err == nil && n%looked == 0 {
			p.err = p.look()
		}
		if p.small != nil {
			j.done(p.small)
		}
		j.took(time.Since(p.began))
		failed = errors.Join(failed, p.err)
		n++
	}
	return failed
}

func (p parcel) look() error {
	got := crc32.NewIEEE()
	if _, err := io.Copy(got, flate.NewReader(p.small)); err != nil {
		return err
	}
	if got.Sum32() != p.sum {
		return wrong(got.Sum32(), p.sum)
	}
	return nil
}
