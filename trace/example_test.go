package trace_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/trace"
)

func ExampleReplay() {
	program := "op,id,size\n" + strings.Repeat("a,0,4096\na,1,65536\nf,0,4096\nf,1,65536\n", 100)
	recording, err := trace.Read(strings.NewReader(program), "loop.csv")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, strategy := range []string{"direct", "exact"} {
		pool, err := slab.OpenConfig(slab.Config{Device: "virtual", Strategy: strategy})
		if err != nil {
			fmt.Println(err)
			return
		}
		r, err := trace.Replay(recording, pool)
		fmt.Println(strategy, r.UpstreamAllocs, "upstream allocs of", r.Allocs, r.PeakLiveBytes, err)
		pool.Close()
	}
	// Output:
	// direct 200 upstream allocs of 200 69632 <nil>
	// exact 2 upstream allocs of 200 69632 <nil>
}

func ExampleReader() {
	r := trace.NewReader(strings.NewReader("op,id,size\na,0,100\nf,0,100\nf,0,100\n"), "program.csv")
	for op, err := range r.All() {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(op.Kind, op.ID, op.Size)
	}
	// Output:
	// a 0 100
	// f 0 100
	// trace: program.csv:4: id 0: freed twice
}

func ExampleWriter() {
	w := trace.NewWriter(os.Stdout)
	w.Write(trace.Op{Kind: trace.Alloc, ID: 0, Size: 100})
	w.Write(trace.Op{Kind: trace.Free, ID: 0, Size: 100})
	fmt.Println(w.Close())
	// Output:
	// op,id,size
	// a,0,100
	// f,0,100
	// <nil>
}
