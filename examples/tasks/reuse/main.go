package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/bufslab/bufslab/slab"
)

var pool = slab.MustOpen("max_bytes=256MiB") // was: sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

func sum(r io.Reader) (string, error) {
	b, err := pool.Get(64 << 10) // was: b := pool.Get().(*[]byte)
	if err != nil {
		return "", err // 256 MiB are out
	}
	defer b.Release() // was: defer pool.Put(b)
	h := sha256.New()
	_, err = io.CopyBuffer(h, io.MultiReader(r), b.Bytes())
	return fmt.Sprintf("%x", h.Sum(nil)[:4]), err
}

func main() {
	for range 3 {
		s, err := sum(strings.NewReader("a body"))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(s)
	}
	s := pool.Stats()
	fmt.Printf("%d Gets took new memory, %d did not; %d buffers are out\n", s.Misses, s.Hits, s.ActiveBlocks)
}
