package main

import (
	"encoding/json"
	"log"
	"math/rand/v2"
	"os"

	"github.com/bufslab/bufslab/slab"
)

func main() {
	pool, err := slab.OpenEnv() // the line is in BUFSLAB_CONF
	if err != nil {
		log.Fatal(err)
	}
	sizes := rand.New(rand.NewPCG(1, 2)) // here is what the program does all day
	for range 20_000 {
		var list [8]slab.PooledBuffer
		for i := range list {
			if list[i], err = pool.Get(1 + sizes.IntN(256<<10)); err != nil {
				log.Fatal(err)
			}
		}
		for _, b := range list {
			b.Release()
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(pool.Stats()); err != nil { // for verify
		log.Fatal(err)
	}
	if err := pool.Close(); err != nil { // ends the recording
		log.Fatal(err)
	}
}
