package trace

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// An allocation that grows goes on: its bytes are counted once, and its free has the new size.
func TestGrowsAreCounted(t *testing.T) {
	tr := read(t, "a,9,100\na,5,50\ng,9,300\ng,5,20\nf,9,300\nf,5,\n")
	if tr.Allocs != 2 || tr.Grows != 2 || tr.Frees != 2 || tr.Events() != 6 || tr.PeakLiveBytes != 350 || tr.LiveBytes != 0 || tr.slots != 2 {
		t.Errorf("%+v", tr)
	}
	want := []Op{{Kind: Alloc, ID: 0, Size: 100}, {Kind: Alloc, ID: 1, Size: 50}, {Kind: Grow, ID: 0, Size: 300}, {Kind: Grow, ID: 1, Size: 20},
		{Kind: Free, ID: 0, Size: 300}, {Kind: Free, ID: 1, Size: 20}}
	if got := slices.Collect(tr.Ops()); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A sum that overflows is refused for a grow, too; what the allocation had before is no part of it.
func TestGrowsThatOverflowAreRefused(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("a sum of 64 bits has room for any sizes there")
	}
	large := strconv.Itoa(math.MaxInt - 5)
	if tr := read(t, "a,0,"+large+"\na,1,1\ng,1,5\ng,0,"+large+"\nf,0,"+large+"\n"); tr.PeakLiveBytes != math.MaxInt {
		t.Errorf("%d bytes at most", tr.PeakLiveBytes)
	}
	_, err := Read(strings.NewReader("a,0,"+large+"\na,1,1\ng,1,6\n"), "t.csv")
	check.Wraps(t, err, ErrSize)
}

// A row g with an id is a Grow, and with a key a Get: in files of before the id of such a row meant nothing.
func TestGrowOrGet(t *testing.T) {
	for text, want := range map[string][]Op{
		"op,id,size,key\na,3,8,x\ng,3,9,y\n": {{Kind: Alloc, ID: 3, Size: 8, Key: "x"}, {Kind: Grow, ID: 3, Size: 9, Key: "y"}},
		"op,id,size,key\ng,3,8,x\ng,,9,y\n":  {{Kind: Get, Size: 8, Key: "x"}, {Kind: Get, Size: 9, Key: "y"}},
		"op,id,size,key\ng,,8,x\ng,4,9,y\n":  {{Kind: Get, Size: 8, Key: "x"}, {Kind: Get, Size: 9, Key: "y"}},
		"a,3,8\ng,3,0\n":                     {{Kind: Alloc, ID: 3, Size: 8}, {Kind: Grow, ID: 3, Size: 0}},
		"id,size,op\n3,8,a\n3,9,g\n3,,f\n":   {{Kind: Alloc, ID: 3, Size: 8}, {Kind: Grow, ID: 3, Size: 9}, {Kind: Free, ID: 3, Size: 9}},
		"op,size,id\na,8,3\ng,9,3\nf,,3\n":   {{Kind: Alloc, ID: 3, Size: 8}, {Kind: Grow, ID: 3, Size: 9}, {Kind: Free, ID: 3, Size: 9}},
		"op,id,size\na,0,1\ng,0,5000000\n":   {{Kind: Alloc, ID: 0, Size: 1}, {Kind: Grow, ID: 0, Size: 5000000}},
	} {
		if got, err := ops(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
}

// What a Writer is given a Reader returns, and Ops as well.
func TestGrowsRoundTrip(t *testing.T) {
	want := []Op{{Kind: Alloc, ID: 0, Size: 1}, {Kind: Grow, ID: 0, Size: math.MaxInt, Key: "k"}, {Kind: Grow, ID: 0, Size: 0, Thread: 3, TimeNS: 4}, {Kind: Free, ID: 0}}
	var b bytes.Buffer
	w := NewWriter(&b, "key", "thread", "time_ns")
	for _, op := range want {
		check.Must(t, w.Write(op))
	}
	check.Must(t, w.Close())
	if got, err := ops(b.String()); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	want[1].Key = "" // of keys only those of requests are left
	if got := slices.Collect(read(t, b.String()).Ops()); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// The second half begins with allocations of the sizes that they had grown to.
func TestHalvesOfGrows(t *testing.T) {
	whole := read(t, "a,0,10\na,1,20\ng,0,1000\ng,1,5\ng,0,2000\nf,1,\nf,0,\na,0,1\n")
	_, second := whole.Halves()
	want := []Op{{Kind: Alloc, ID: 0, Size: 1000}, {Kind: Alloc, ID: 1, Size: 5}, {Kind: Grow, ID: 0, Size: 2000}, {Kind: Free, ID: 1, Size: 5},
		{Kind: Free, ID: 0, Size: 2000}, {Kind: Alloc, ID: 0, Size: 1}}
	if got := slices.Collect(second.Ops()); !slices.Equal(got, want) || second.PeakLiveBytes != 2005 {
		t.Errorf("%v, want %v; %d bytes at most", got, want, second.PeakLiveBytes)
	}
}

// A replay plays a grow as Grow: where memory can be extended in place nothing moves, where a Get and a
// Release need both blocks at a time.
func TestReplayGrows(t *testing.T) {
	grown, moved := "a,0,4000000\n", "a,0,4000000\n"
	for i := range 20 {
		size := 4_000_000 + 1_000_000*(i+1)
		grown += fmt.Sprintf("g,0,%d\n", size)
		moved += fmt.Sprintf("a,%d,%d\nf,%d,\n", i+1, size, i)
	}
	const line = "device=virtual,strategy=bestfit,cache_bytes=0"
	g, err := Replay(read(t, grown), open(t, line))
	check.Must(t, err)
	m, err := Replay(read(t, moved), open(t, line))
	check.Must(t, err)
	if g.PeakManagedBytes > 40_000_000 || m.PeakManagedBytes < 60_000_000 || g.Grows != 20 || g.EndActiveBytes != 24_000_000 {
		t.Errorf("grown: %+v, moved: %+v", g, m)
	}
	if g.MissRatio != float64(g.UpstreamAllocs)/21 {
		t.Errorf("%v of misses, %d calls for 21 requests", g.MissRatio, g.UpstreamAllocs)
	}
}

// A grow that fails ends the replay, and the buffer is released as it was.
func TestReplayEndsAtAGrowThatFails(t *testing.T) {
	for _, text := range []string{"a,0,100000\ng,0,9000000\n", "a,0,100000\ng,0,200000\ng,0,9000000\n"} {
		p := open(t, "device=virtual,strategy=slab,max_bytes=4MiB")
		r, err := Replay(read(t, text), p)
		check.Wraps(t, err, device.ErrOutOfMemory)
		if p.Stats().ActiveBlocks != 0 || r.Grows != int64(strings.Count(text, "g")) {
			t.Errorf("%q: %+v, %v", text, r, p.Stats())
		}
	}
}

// A grow is played on every strategy and number of processors, and a stream of it gives the same.
func TestGrowsRepeat(t *testing.T) {
	text := growing(3000)
	for _, line := range []string{"device=virtual", "device=heap", "device=virtual,strategy=bestfit", "device=virtual,strategy=exact", "device=virtual,strategy=direct"} {
		for procs := 1; procs < 4; procs++ {
			o := Replayer{Processors: procs}
			a, err := o.Run(read(t, text), open(t, line))
			check.Must(t, err)
			b, err := o.Stream(NewReader(strings.NewReader(text), "t.csv"), open(t, line))
			check.Must(t, err)
			if a.NsPerOp, b.NsPerOp = 0, 0; a != b || a.EndActiveBytes != 0 || a.Grows == 0 {
				t.Errorf("%s on %d: %+v, then %+v", line, procs, a, b)
			}
		}
	}
}

// growing is a program of two threads whose buffers grow by doubling.
func growing(buffers int) string {
	var b strings.Builder
	b.WriteString("op,id,size,thread\n")
	r := rand.New(rand.NewPCG(1, 2))
	sizes := map[int]int{}
	for i := range buffers + 20 {
		if i < buffers {
			sizes[i] = 64 << r.IntN(6)
			fmt.Fprintf(&b, "a,%d,%d,%d\n", i, sizes[i], i%2)
		}
		if id := i - r.IntN(20); sizes[id] > 0 {
			sizes[id] = sizes[id]*2 + r.IntN(3)
			fmt.Fprintf(&b, "g,%d,%d,%d\n", id, sizes[id], r.IntN(2))
		}
		if id := i - 20; id >= 0 {
			fmt.Fprintf(&b, "f,%d,%d,%d\n", id, sizes[id], r.IntN(2))
			delete(sizes, id)
		}
	}
	return b.String()
}

// FuzzRead reads anything without a panic, and what a Trace has been read from can be written and read again.
func FuzzRead(f *testing.F) {
	f.Add("op,id,size\na,0,1\ng,0,5\nf,0,\n")
	f.Add("op,id,size,key,stream,thread,time_ns\na,7,1,k,1,2,3\ng,7,900,k,1,3,4\ns,,,,,,5\nf,7,,,,,9\n")
	f.Add("g,k,5\ng,l,6\n")
	f.Add("a,0,18446744073709551615\n")
	f.Fuzz(readAgain)
}

func TestReadAgain(t *testing.T) {
	readAgain(t, growing(200))
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		var b strings.Builder
		for range 1 + r.IntN(12) {
			fmt.Fprintf(&b, "%c,%d,%d\n", "aaggfs"[r.IntN(6)], r.IntN(3), 1+r.IntN(3))
		}
		readAgain(t, b.String())
	}
}

func readAgain(t *testing.T, text string) {
	tr, err := Read(strings.NewReader(text), "t.csv")
	if err != nil {
		return
	}
	want := slices.Collect(tr.Ops())
	var b bytes.Buffer
	w := NewWriter(&b, "key", "stream", "thread", "time_ns")
	for _, op := range want {
		check.Must(t, w.Write(op))
	}
	check.Must(t, w.Close())
	again, err := Read(&b, "t.csv")
	if err != nil || again.Events() != tr.Events() || again.PeakLiveBytes != tr.PeakLiveBytes || again.Grows != tr.Grows {
		t.Fatalf("%q: %+v, then %+v, %v", text, tr, again, err)
	}
	if got := slices.Collect(again.Ops()); !slices.Equal(got, want) {
		t.Fatalf("%q: %v, then %v", text, want, got)
	}
}
