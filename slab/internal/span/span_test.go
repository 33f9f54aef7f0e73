package span

import (
	"math/rand/v2"
	"testing"
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
					n := sizes[class] + r.IntN(200*sizes[class])
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
