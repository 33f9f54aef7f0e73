package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/bufslab/bufslab/slab"
)

var pool = slab.MustOpen("on_forget=report") // knows where each buffer was got

func parse(text string) error {
	b, err := pool.Get(1 << 10)
	if err != nil {
		return err
	}
	if copy(b.Bytes(), text) == 0 {
		return errors.New("empty") // forgets b
	}
	return b.Release()
}

func main() {
	parse("a message")
	parse("")
	runtime.GC()
	for _, l := range pool.Leaks() {
		fmt.Printf("%d bytes, got at %s\n", l.Bytes, filepath.Base(l.Site))
	}
}
