// Mutants breaks bufslab in one place after another, and checks that a test notices each time.
//
//	go run ./fuzz/mutants [-fast] [-jobs N] [REGEXP]
//	go run ./fuzz/mutants -random N [-seed S] [-jobs N] [PACKAGE...]
//
// It runs from the top of the repository, and changes no file there: the go command reads the changed text
// by its -overlay. A test runs unchanged first, since a test that fails anyway notices nothing.
//
// Without -random it tries the bugs that seeds.txt lists, those whose title REGEXP matches. It prints a line
// for each, and exits with 1 if one lives, does not compile, or is not in the source any more. If REGEXP matches
// none, or a flag cannot be, it says so and exits with 2.
//
// -random changes N tokens, drawn by the seed, in the packages that the arguments name (slab, slab/...), in
// any module of the repository; without arguments in all but those that test, measure and show others. It runs
// all tests of the package on each, and for an internal package those of the package around it as well.
// It prints those that live, and exits with 1 if lives.txt has no reason for one; a number beside an error that
// a return makes needs none. A change on which the tests take five minutes counts as noticed, and is printed.
// Packages without tests are left out.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync"
)

func main() {
	fast := flag.Bool("fast", false, "try only the seeds that are marked fast")
	jobs := flag.Int("jobs", runtime.GOMAXPROCS(0), "how many tests run at a time")
	tokens := flag.Int("random", 0, "change this many tokens of the packages instead")
	draw := flag.Uint64("seed", 1, "draws the tokens")
	flag.Parse()
	isRandom := false
	flag.Visit(func(f *flag.Flag) { isRandom = isRandom || f.Name == "random" })
	good, err := false, misused(isRandom, *tokens, *jobs, *fast, flag.Args())
	switch {
	case err != nil:
	case isRandom:
		good, err = random(*tokens, *draw, flag.Args(), *jobs)
	default:
		good, err = seeded(flag.Arg(0), *fast, *jobs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if !good {
		os.Exit(1)
	}
}

// misused says what is wrong with the flags and arguments: what is left out in silence looks as if it had passed.
func misused(isRandom bool, tokens, jobs int, fast bool, args []string) error {
	switch {
	case jobs < 1:
		return fmt.Errorf("-jobs %d: one test has to run at a time", jobs)
	case isRandom && tokens < 1:
		return fmt.Errorf("-random %d: one token has to change", tokens)
	case isRandom && fast:
		return errors.New("-fast is for seeds, and -random tries none")
	case !isRandom && len(args) > 1:
		return fmt.Errorf("one REGEXP picks the seeds, and flags stand before it: %q", args)
	}
	return nil
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
