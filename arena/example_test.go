package arena_test

import (
	"fmt"

	"github.com/bufslab/bufslab/arena"
	"github.com/bufslab/bufslab/slab"
)

// A round for each line: its words are freed at once.
func ExampleArena() {
	p, _ := slab.OpenConfig(slab.Config{})
	defer p.Close()
	a := arena.New(p)
	defer a.Release()
	for _, line := range []string{"one arena", "many small pieces"} {
		word, err := a.Get(len(line))
		if err != nil {
			fmt.Println(err)
			return
		}
		copy(word, line)
		counts, _ := arena.Make[int32](a, 26)
		for _, c := range word {
			if c != ' ' {
				counts[c-'a']++
			}
		}
		fmt.Printf("%s: %d e, %d bytes out\n", word, counts['e'-'a'], p.Stats().ActiveBytes)
		a.Reset()
	}
	// Output:
	// one arena: 2 e, 8192 bytes out
	// many small pieces: 2 e, 8192 bytes out
}
