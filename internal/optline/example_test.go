package optline_test

import (
	"fmt"
	"math"
	"strings"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/optline"
)

type server struct {
	Store string // memory or disk
	Cache int64  // bytes, of disk only; -1 is off
	Conns int
}

var table = optline.Table[server]{
	optline.Key[server, string]{Name: "store", Field: func(s *server) *string { return &s.Store },
		Kind: optline.Strings, Range: optline.NonEmpty("memory or a path"), Default: "memory"},
	optline.Key[server, int64]{Name: "cache", Field: func(s *server) *int64 { return &s.Cache },
		Kind: optline.Sizes[int64](device.ParseSize), Range: optline.Positive[int64]("a size"),
		Words: map[string]int64{"0": -1}, Needs: disk, ZeroText: "that of the system"},
	optline.Key[server, int]{Name: "conns", Field: func(s *server) *int { return &s.Conns },
		Kind: optline.Counts, Range: optline.Between(1, 500), Words: map[string]int{"none": math.MaxInt},
		DefaultFor: func(s server) (int, string) { return 10 + len(s.Store), "default of " + s.Store }},
}

func disk(s server) string {
	if s.Store == "memory" {
		return "only a disk is cached"
	}
	return ""
}

func Example() {
	s, _ := table.Parse(`{"store": "/var/db", "cache": "4 MiB"}`)
	fmt.Println(table.Line(s))
	fmt.Print(table.Explain(s))
	_, faults := table.Parse("cache=1KiB,conns=0,cons=8")
	fmt.Println(strings.Join(faults, "\n"))
	// Output:
	// store=/var/db,cache=4MiB
	// store  /var/db  set by you
	// cache  4MiB     set by you
	// conns  17       default of /var/db
	// conns=0: want 1 to 500 or none
	// cons=8: unknown key; known are store, cache, conns
	// cache=1KiB: only a disk is cached
}
