package main

import (
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
)

// noise are bytes that do not compress.
var noise = sync.OnceValue(func() []byte {
	b := make([]byte, 4<<20)
	rand.NewChaCha8([32]byte{2}).Read(b) // never fails
	return b
})

// text are lines of a log, which do.
var text = sync.OnceValue(func() []byte {
	var b strings.Builder
	r := rand.New(rand.NewPCG(5, 9))
	for b.Len() < 4<<20 {
		fmt.Fprintf(&b, "level=info request=%d path=/items/%d status=%d bytes=%d\n", b.Len(), r.IntN(5000), 200+r.IntN(5), r.IntN(1<<20))
	}
	return []byte(b.String())
})

// some is a random part of data, n bytes long.
func some(data []byte, r *rand.Rand, n int) []byte {
	at := r.IntN(len(data) - n + 1)
	return data[at : at+n]
}

// between draws a size, as often from each doubling.
func between(r *rand.Rand, low, high int) int {
	return int(float64(low) * math.Exp2(r.Float64()*math.Log2(float64(high)/float64(low))))
}

func sum(b []byte) uint32 { return crc32.ChecksumIEEE(b) }
