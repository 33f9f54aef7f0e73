package main

import (
	"context"
	"fmt"
	"log"

	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/slab"
)

func main() {
	memory := slab.MustOpen("")
	defer memory.Close()
	arrays := growpool.New[string](memory, growpool.Config{})
	for _, rows := range []int{1000, 400, 1000, 2000} {
		a, err := growpool.Acquire[float64](context.Background(), arrays, "coefficients", rows, 100)
		if err != nil {
			log.Fatal(err)
		}
		a.Set(1.5, rows-1, 99) // no other caller has it until Release; what was in it is undefined
		fmt.Println(a.Shape(), a.Row(rows - 1)[99])
		a.Release()
	}
	s := arrays.Stats()["coefficients"]
	fmt.Println(s.Hits, "served by what was there,", s.Misses+s.Grows, "took memory,", s.Bytes, "bytes are kept")
	arrays.Close()
}
