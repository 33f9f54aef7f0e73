package span

import (
	"math/rand/v2"
	"testing"

	"github.com/bufslab/bufslab/internal/invariants"
)

type place struct {
	span int32
	off  int
}

// A block is handed out once until it comes back, and what the counters say is true.
func TestListLikeAModel(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 8))
		l := NewList[int](4)
		sizes := []int{16, 48, 80, 1024}
		bytes := map[int32]int{}
		live := map[place]int{} // class
		for range 4000 {
			class := r.IntN(4)
			if r.IntN(2) == 0 {
				i, off, ok := l.Pop(class, sizes[class])
				if !ok {
					n := sizes[class] + r.IntN([]int{200, 3}[seed%2]*sizes[class]) // few spans, or many that fill up
					bytes[l.Add(class, sizes[class], n, n)] = n
					continue
				}
				at := place{i, off}
				if _, twice := live[at]; twice || off%sizes[class] != 0 || off+sizes[class] > bytes[i] || !l.IsOut(i, off, l.spans[i].Size) {
					t.Fatalf("block %+v of class %d, out twice: %v", at, class, twice)
				}
				live[at] = class
			} else {
				pushOne(t, r, l, live, bytes)
			}
			checkList(t, l, live, bytes, sizes)
		}
	}
}

func pushOne(t *testing.T, r *rand.Rand, l *List[int], live map[place]int, bytes map[int32]int) {
	for at := range live {
		if l.IsOut(at.span, at.off+1, l.spans[at.span].Size) || l.IsOut(at.span, -1, l.spans[at.span].Size) || l.IsOut(at.span, bytes[at.span], l.spans[at.span].Size) {
			t.Fatalf("a block begins beside %+v", at)
		}
		delete(live, at)
		whole := l.Push(at.span, at.off)
		if l.IsOut(at.span, at.off, l.spans[at.span].Size) {
			t.Fatalf("%+v is still out", at)
		}
		others := 0
		for o := range live {
			if o.span == at.span {
				others++
			}
		}
		if whole != (others == 0) {
			t.Fatalf("span %d is wholly free: %v, but %d of its blocks are out", at.span, whole, others)
		}
		if whole && r.IntN(2) == 0 {
			if mem := l.Remove(at.span); mem != bytes[at.span] {
				t.Fatalf("span of %d bytes was of %d", mem, bytes[at.span])
			}
			delete(bytes, at.span)
		}
		return
	}
}

func checkList(t *testing.T, l *List[int], live map[place]int, bytes map[int32]int, sizes []int) {
	t.Helper()
	if err := l.check(); err != nil {
		t.Fatal(err)
	}
	var all, tail, freeBytes, freeBlocks int64
	for i, n := range bytes {
		size := l.spans[i].Size
		all += int64(n)
		tail += int64(n % size)
		freeBlocks += int64(n / size)
		freeBytes += int64(n / size * size)
	}
	counts := make([]int, len(sizes))
	for _, class := range live {
		counts[class]++
		freeBlocks--
		freeBytes -= int64(sizes[class])
	}
	if l.counts.FreeBlocks != freeBlocks || l.counts.FreeBytes != freeBytes || l.counts.TailBytes != tail {
		t.Fatalf("%d free of %d bytes, tails of %d; want %d, %d, %d of %d", l.counts.FreeBlocks, l.counts.FreeBytes, l.counts.TailBytes, freeBlocks, freeBytes, tail, all)
	}
	for class := range counts {
		if l.classes[class].live != counts[class] {
			t.Fatalf("class %d has %d out, counts %d", class, counts[class], l.classes[class].live)
		}
	}
}

func TestOthersAreSpansOfTheClass(t *testing.T) {
	l := NewList[int](1)
	one := l.Add(0, 16, 64, 0)
	if l.HasOthers(one) {
		t.Error("a span alone has others")
	}
	two := l.Add(0, 16, 64, 0)
	if !l.HasOthers(one) || !l.HasOthers(two) {
		t.Error("of two spans one is alone")
	}
}

// Blocks in quarantine stay out, and their span can go once the others are free or in quarantine.
func TestLostBlocks(t *testing.T) {
	l := NewList[int](1)
	i := l.Add(0, 100, 420, 7)
	var offs []int
	for range 4 {
		_, off, _ := l.Pop(0, 90)
		offs = append(offs, off)
	}
	if l.Quarantine(i) || len(l.Quarantined()) != 0 {
		t.Error("three blocks are out still")
	}
	l.Push(i, offs[1])
	l.Push(i, offs[2])
	if len(l.Quarantined()) != 0 {
		t.Error("one block is out still")
	}
	l.Push(i, offs[3])
	if lost := l.Quarantined(); len(lost) != 1 || lost[0] != i || l.Counts().QuarantinedBytes != 100 {
		t.Errorf("%v, %+v", lost, l.Counts())
	}
	if mem := l.Remove(i); mem != 7 || l.Counts() != (Counts{}) || l.Live(0) != 0 {
		t.Errorf("%d: %+v, %d", mem, l.Counts(), l.Live(0))
	}
	if j := l.Add(0, 100, 100, 8); j != i {
		t.Error("the number is not vacant")
	} else if l.Pop(0, 1); !l.Quarantine(j) {
		t.Error("none of the span will come back")
	}
	if err := l.check(); err != nil {
		t.Error(err)
	}
}

// A block that comes back is found again, wherever it is in its span.
func TestTheFirstFreeBlockIsPopped(t *testing.T) {
	l := NewList[int](1)
	i := l.Add(0, 16, 200*16, 0)
	for range 200 {
		l.Pop(0, 16)
	}
	for _, n := range []int{199, 70, 5} {
		l.Push(i, n*16)
	}
	for _, want := range []int{5, 70, 199} {
		if _, off, ok := l.Pop(0, 16); !ok || off != want*16 {
			t.Errorf("block %d, want %d", off/16, want)
		}
	}
}

// A block is out as it was popped: of that size, at its beginning.
func TestIsOut(t *testing.T) {
	l := NewList[int](1)
	i := l.Add(0, 16, 64, 0)
	_, off, _ := l.Pop(0, 10)
	for _, c := range []struct {
		off, size int
		want      bool
	}{{off, 10, true}, {off, 11, false}, {off, 16, false}, {off + 1, 10, false}, {off + 16, 16, false}, {-16, 16, false}, {64, 16, false}} {
		if got := l.IsOut(i, c.off, c.size); got != c.want {
			t.Errorf("%d bytes at %d: %v", c.size, c.off, got)
		}
	}
}

// The first span has number 1, as 0 is none, and a span of a single block is empty before its Pop and after its Push.
func TestSpansHaveNumbersFromOne(t *testing.T) {
	l := NewList[int](3)
	if l.Max() != 0 || l.Classes() != 3 {
		t.Errorf("without spans Max is %d of %d classes", l.Max(), l.Classes())
	}
	for want := int32(1); want < 4; want++ {
		if i := l.Add(0, 16, 16, 0); i != want || l.Max() != want {
			t.Errorf("span %d, Max %d, want %d", i, l.Max(), want)
		}
	}
	i, off, _ := l.Pop(0, 16)
	if l.At(i).Empty() {
		t.Error("a span is empty, and its block is out")
	}
	if l.Push(i, off); !l.At(i).Empty() || l.At(0).Empty() {
		t.Error("a span whose only block is free is not empty, or no span is")
	}
}

// A span whose blocks are all in quarantine goes without those of its class that have free blocks.
func TestRemovingAFullSpanKeepsTheOthers(t *testing.T) {
	l := NewList[int](1)
	lost, other := l.Add(0, 16, 16, 1), l.Add(0, 16, 16, 2)
	l.Pop(0, 16)
	l.Pop(0, 16)
	l.Push(other, 0)
	l.Quarantine(lost)
	l.Remove(lost)
	if i, _, ok := l.Pop(0, 16); !ok || i != other {
		t.Errorf("span %d has a free block: %t, want %d", i, ok, other)
	}
}

// Each fault alone is found.
func TestCheckFindsFaults(t *testing.T) {
	const size = 16
	for name, fault := range map[string]func(l *List[int], a, b *Span[int]){
		"none":                               func(*List[int], *Span[int], *Span[int]) {},
		"a free block before the hint":       func(_ *List[int], a, _ *Span[int]) { a.free[0], a.free[1] = 1, a.free[1]&(a.free[1]-1) },
		"a bit is missing":                   func(_ *List[int], _, b *Span[int]) { b.free[0] &= b.free[0] - 1 },
		"more bytes than blocks":             func(l *List[int], _, b *Span[int]) { b.bytes += size; l.counts.TailBytes += size },
		"a negative number in quarantine":    func(l *List[int], _, b *Span[int]) { b.quarantined--; l.counts.QuarantinedBytes -= size },
		"more in quarantine than are out":    func(l *List[int], _, b *Span[int]) { b.quarantined += 2; l.counts.QuarantinedBytes += 2 * size },
		"free bytes":                         func(l *List[int], _, _ *Span[int]) { l.counts.FreeBytes++ },
		"blocks out":                         func(l *List[int], _, _ *Span[int]) { l.classes[1].live++ },
		"a span that is not listed":          func(l *List[int], _, _ *Span[int]) { l.classes[0].partial = 0 },
		"a wrong span before":                func(_ *List[int], a, _ *Span[int]) { a.prev = 1 },
		"a span of another class":            func(l *List[int], _, _ *Span[int]) { l.classes[0].partial, l.classes[1].partial = 3, 1 },
		"a full span behind one that is not": func(l *List[int], _, b *Span[int]) { b.next = 2; l.spans[2].prev = 3 },
	} {
		l := NewList[int](2)
		l.Add(0, size, 130*size, 0) // 1
		for range 65 {
			l.Pop(0, size)
		}
		l.Add(1, size, size, 0) // 2, then 3
		l.Pop(1, size)
		l.Add(1, size, 4*size, 0)
		l.Pop(1, size)
		if err := l.check(); err != nil {
			t.Fatal(err)
		}
		fault(l, l.At(1), l.At(3))
		if err := l.check(); (err != nil) != (name != "none") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A fault panics in check builds, and in no others: at once where spans are few, else after as many steps.
func TestVerifyPanicsInCheckBuilds(t *testing.T) {
	for _, spans := range []int{1, 100} {
		l := NewList[int](1)
		for range spans {
			l.Add(0, 16, 64, 0)
		}
		steps := 1
		if spans > 20 {
			steps = spans + 1
		}
		l.counts.TailBytes++
		panicked := func() (panicked bool) {
			defer func() { panicked = recover() != nil }()
			for range steps {
				l.verify()
			}
			return false
		}()
		if panicked != invariants.Enabled {
			t.Errorf("a fault in %d spans: it panics is %t", spans, panicked)
		}
	}
}
