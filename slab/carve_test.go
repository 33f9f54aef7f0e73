package slab

import (
	"math/rand/v2"
	"testing"
)

type carvedAt struct {
	slab int32
	off  int
}

// A block is handed out once until it comes back, and what the counters say is true.
func TestCarverLikeAModel(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 8))
		v := newCarver[int](4)
		sizes := []int{16, 48, 80, 1024}
		bytes := map[int32]int{}
		live := map[carvedAt]int{} // class
		for range 4000 {
			class := r.IntN(4)
			if r.IntN(2) == 0 {
				i, off, ok := v.take(class, sizes[class])
				if !ok {
					n := sizes[class] + r.IntN(200*sizes[class])
					bytes[v.add(class, sizes[class], n, n)] = n
					continue
				}
				at := carvedAt{i, off}
				if _, twice := live[at]; twice || off%sizes[class] != 0 || off+sizes[class] > bytes[i] || !v.out(i, off, v.slabs[i].size) {
					t.Fatalf("block %+v of class %d, out twice: %v", at, class, twice)
				}
				live[at] = class
			} else {
				carverGivesOne(t, r, &v, live, bytes)
			}
			checkCarver(t, &v, live, bytes, sizes)
		}
	}
}

func carverGivesOne(t *testing.T, r *rand.Rand, v *carver[int], live map[carvedAt]int, bytes map[int32]int) {
	for at := range live {
		if v.out(at.slab, at.off+1, v.slabs[at.slab].size) || v.out(at.slab, -1, v.slabs[at.slab].size) || v.out(at.slab, bytes[at.slab], v.slabs[at.slab].size) {
			t.Fatalf("a block begins beside %+v", at)
		}
		delete(live, at)
		whole := v.give(at.slab, at.off)
		if v.out(at.slab, at.off, v.slabs[at.slab].size) {
			t.Fatalf("%+v is still out", at)
		}
		others := 0
		for o := range live {
			if o.slab == at.slab {
				others++
			}
		}
		if whole != (others == 0) {
			t.Fatalf("slab %d is wholly free: %v, but %d of its blocks are out", at.slab, whole, others)
		}
		if whole && r.IntN(2) == 0 {
			if mem := v.remove(at.slab, bytes[at.slab]); mem != bytes[at.slab] {
				t.Fatalf("slab of %d bytes was of %d", mem, bytes[at.slab])
			}
			delete(bytes, at.slab)
		}
		return
	}
}

func checkCarver(t *testing.T, v *carver[int], live map[carvedAt]int, bytes map[int32]int, sizes []int) {
	t.Helper()
	var all, tail, freeBytes, freeBlocks int64
	for i, n := range bytes {
		size := v.slabs[i].size
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
	if v.freeBlocks != freeBlocks || v.freeBytes != freeBytes || v.tailBytes != tail {
		t.Fatalf("%d free of %d bytes, tails of %d; want %d, %d, %d of %d", v.freeBlocks, v.freeBytes, v.tailBytes, freeBlocks, freeBytes, tail, all)
	}
	for class := range counts {
		if v.classes[class].live != counts[class] {
			t.Fatalf("class %d has %d out, counts %d", class, counts[class], v.classes[class].live)
		}
	}
}

func TestCarverSparesAreOtherSlabsOfTheClass(t *testing.T) {
	v := newCarver[int](1)
	one := v.add(0, 16, 64, 0)
	if v.spare(one) {
		t.Error("a slab alone has a spare")
	}
	two := v.add(0, 16, 64, 0)
	if !v.spare(one) || !v.spare(two) {
		t.Error("two slabs have no spare")
	}
}
