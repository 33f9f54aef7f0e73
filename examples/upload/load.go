package main

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
	"time"
)

// A cost is what it took to serve all uploads, clients included: they are in this process.
type cost struct {
	time                   time.Duration
	latencies              []time.Duration // sorted
	collectorShare         float64         // of the processor time that was used
	collections            int
	peakHeap, peakResident int
}

func (c cost) quantile(q float64) time.Duration {
	return c.latencies[int(q*float64(len(c.latencies)-1))].Round(10 * time.Microsecond)
}

// load has each client send so many uploads, one after the other.
func (s *server) load(each int) (c cost, err error) {
	h := httptest.NewServer(s)
	defer h.Close()
	h.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = clients
	debug.FreeOSMemory() // of the line that was measured before
	before, began := readRuntime(), time.Now()
	all := make([]client, clients)
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() { all[i].send(h, each, uint64(i)) })
	}
	wg.Wait()
	c.time = time.Since(began)
	runtime.GC() // the runtime adds up processor time at the end of a collection
	after := readRuntime()
	c.collections = after.collections - before.collections - 1 // but ours
	c.collectorShare = (after.collector - before.collector) / (after.used - before.used)
	for _, one := range all {
		c.latencies = append(c.latencies, one.latencies...)
		c.peakHeap, c.peakResident = max(c.peakHeap, one.peakHeap), max(c.peakResident, one.peakResident)
		err = errors.Join(err, one.err)
	}
	slices.Sort(c.latencies)
	return c, err
}

// A client sends uploads and notes the latencies, and the most memory that it saw.
type client struct {
	latencies              []time.Duration
	peakHeap, peakResident int
	err                    error
}

func (c *client) send(h *httptest.Server, uploads int, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	for range uploads {
		n := mostBytes/4 + r.IntN(mostBytes*3/4)
		body := contents[r.IntN(len(contents)-n):][:n]
		began := time.Now()
		if c.err = upload(h, body); c.err != nil {
			return
		}
		c.latencies = append(c.latencies, time.Since(began))
		c.peakHeap, c.peakResident = max(c.peakHeap, readRuntime().heap), max(c.peakResident, resident())
	}
}

// contents is what uploads are parts of, no two of them the same.
var contents = func() []byte {
	b := make([]byte, 2*mostBytes)
	rand.NewChaCha8([32]byte{}).Read(b)
	return b
}()

// upload fails if the server answers with another checksum than that of what it was sent.
func upload(h *httptest.Server, body []byte) error {
	answer, err := h.Client().Post(h.URL, "application/octet-stream", bytes.NewReader(body))
	if err != nil {
		return err
	}
	text, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return err
	}
	if want := fmt.Sprintf("%08x", crc32.ChecksumIEEE(body)); string(text) != want {
		return fmt.Errorf("status %s, answer %q, not %q", answer.Status, text, want)
	}
	return nil
}

// A reading is what the Go runtime tells.
type reading struct {
	collector, used float64 // seconds of all processors
	collections     int
	heap            int // bytes of objects
}

func readRuntime() reading {
	m := []metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/cpu/classes/total:cpu-seconds"},
		{Name: "/cpu/classes/idle:cpu-seconds"},
		{Name: "/gc/cycles/total:gc-cycles"},
		{Name: "/memory/classes/heap/objects:bytes"},
	}
	metrics.Read(m)
	return reading{m[0].Value.Float64(), m[1].Value.Float64() - m[2].Value.Float64(),
		int(m[3].Value.Uint64()), int(m[4].Value.Uint64())}
}

// resident returns the memory that the program has of the system, or 0 where it is not Linux.
func resident() int {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int
	fmt.Sscan(string(text), &size, &pages)
	return pages * os.Getpagesize()
}
