package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/bufslab/bufslab/slab"
)

func main() {
	pool := slab.MustOpen("max_bytes=1MiB")
	defer pool.Close()
	first, err := pool.Get(1 << 20)
	if err != nil {
		log.Fatal(err)
	}

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	_, err = pool.GetContext(ctx, 1<<20)
	var late *slab.WaitError
	var full *slab.OutOfMemoryError
	switch { // a WaitError wraps an OutOfMemoryError: look for it first
	case errors.As(err, &late):
		fmt.Println("waited in vain:", errors.Is(err, context.DeadlineExceeded))
	case errors.As(err, &full):
		fmt.Println("there will never be room:", err)
	}

	go first.Release()
	b, err := pool.GetContext(context.Background(), 1<<20) // waits for that Release
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("then had", b.Len(), "bytes")
	b.Release()

	// A request that needs two takes both at once: two that hold one and wait for one would wait for ever.
	both, err := pool.GetAll(context.Background(), 256<<10, 512<<10)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(both), "at once")
	for _, b := range both {
		b.Release()
	}
}
