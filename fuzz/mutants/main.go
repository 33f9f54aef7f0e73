// Mutants breaks bufslab in one place after another, and checks that a test notices each
// time.
//
//	go run ./fuzz/mutants [-fast] [-jobs N] [REGEXP]
//	go run ./fuzz/mutants -random N [-seed S] [-jobs N] PACKAGE...
//
// It runs from the top of the module. A mutant is a text of a file that gives way to
// another, and names the test that has to fail. The files stay as they are: the go command
// reads the changed text by its -overlay. Each test runs unchanged first, as one that fails
// anyway notices nothing. Tests run in the module that has them.
//
// It prints a line for each mutant, and exits with 1 if one lives, does not compile, or is
// not in the source any more. -fast tries those that are marked so; REGEXP picks by name.
//
// -random changes N tokens of packages, drawn by the seed, and runs all tests of the package on each. It
// prints those that live, and exits with 1 if one lives for which lives.txt has no reason. One on which the tests
// take five minutes counts as noticed, and is printed.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"sync"
	"time"
)

func main() {
	fast := flag.Bool("fast", false, "try only the mutants that are marked fast")
	jobs := flag.Int("jobs", runtime.GOMAXPROCS(0), "how many tests run at a time")
	tokens := flag.Int("random", 0, "change so many tokens of the packages instead")
	seed := flag.Uint64("seed", 1, "draws the tokens")
	flag.Parse()
	if *tokens > 0 {
		if !random(*tokens, *seed, flag.Args(), *jobs) {
			os.Exit(1)
		}
		return
	}
	pick, err := regexp.Compile(flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	var chosen []mutant
	for _, m := range all() {
		if pick.MatchString(m.name) && (m.fast || !*fast) {
			chosen = append(chosen, m)
		}
	}
	if !try(chosen, *jobs) {
		os.Exit(1)
	}
}

// try prints what becomes of each mutant, and reports whether all are as they should be.
func try(chosen []mutant, jobs int) bool {
	begin := time.Now()
	var killers sync.Map // killer to a function that runs it unchanged, once
	count := map[fate]int{}
	var mu sync.Mutex
	each(chosen, jobs, func(m mutant) {
		var f fate
		var why string
		if m.equivalent != "" {
			f, why = equivalent, m.equivalent
		} else {
			once, _ := killers.LoadOrStore(m.killer, sync.OnceValue(func() bool { return m.killer.passes() }))
			f, why = m.tryBeside(once.(func() bool))
		}
		mu.Lock()
		defer mu.Unlock()
		count[f]++
		fmt.Printf("%-10s  %-44s %s\n", f, m.name, why)
	})
	bad := 0
	for f, n := range count {
		if f != killed && f != equivalent {
			bad += n
		}
	}
	fmt.Printf("%d mutants: %d killed, %d equivalent, %d not as they should be; %v\n",
		len(chosen), count[killed], count[equivalent], bad, time.Since(begin).Round(time.Second))
	return bad == 0
}

// each calls f with all, some at a time.
func each[T any](all []T, jobs int, f func(T)) {
	var wait sync.WaitGroup
	next := make(chan T)
	for range jobs {
		wait.Go(func() {
			for m := range next {
				f(m)
			}
		})
	}
	for _, m := range all {
		next <- m
	}
	close(next)
	wait.Wait()
}
