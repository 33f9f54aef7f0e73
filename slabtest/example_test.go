package slabtest_test

import (
	"fmt"
	"regexp"
	"runtime"
	"testing"

	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/slabtest"
)

// A failing test prints what it would fail with, and ends.
type failing struct {
	testing.TB
	cleanup func()
}

func (t *failing) Helper()          {}
func (t *failing) Failed() bool     { return false }
func (t *failing) Cleanup(f func()) { t.cleanup = f }
func (t *failing) Errorf(format string, args ...any) {
	text := around.ReplaceAllString(fmt.Sprintf(format, args...), "")
	fmt.Println(directory.ReplaceAllString(text, "\t"))
}

var (
	around    = regexp.MustCompile(`\n\t\tcalled at.*`) // what runs the example
	directory = regexp.MustCompile(`\t.*/`)
)

// What a test says that has released one buffer of three.
func ExampleOpen() {
	t := new(failing)
	pool := slabtest.Open(t, "device=mmap")
	var kept []slab.PooledBuffer
	for range 2 {
		b, _ := pool.Get(1000)
		kept = append(kept, b)
	}
	b, _ := pool.Get(5000)
	b.Release()
	t.cleanup() // go test does so at the end
	runtime.KeepAlive(kept)
	// Output:
	// 2 buffers of 2000 bytes were not released by the end of the test (pool device=mmap,on_forget=report):
	// 	example_test.go:38: 2 buffers of 2000 bytes, still out
	// Each place is that of a Get, Share, Slice or Grow. Release what it returned once, on every path.
	// A buffer is out until its last part is released.
}

// frame is what the examples test: it puts a message behind its length.
func frame(pool *slab.Pool, message string) (string, error) {
	b, err := pool.Get(1 + len(message))
	if err != nil {
		return "", err
	}
	defer b.Release()
	m := b.Bytes()
	m[0] = byte('0' + len(message))
	copy(m[1:], message)
	return string(m), nil
}

// Each case of a table has a pool of its own, so a failure names the case that has kept a buffer.
func ExampleOpen_table() {
	TestFrame := func(t *testing.T) {
		for _, c := range []struct{ name, message, want string }{
			{"empty", "", "0"},
			{"short", "hello", "5hello"},
		} {
			t.Run(c.name, func(t *testing.T) {
				pool := slabtest.Open(t, "device=mmap")
				if got, err := frame(pool, c.message); got != c.want || err != nil {
					t.Errorf("%q, %v, want %q", got, err, c.want)
				}
			})
		}
	}
	run(TestFrame) // as go test does
}

// Parallel subtests share the pool of their parent, which is closed when the last of them is over.
func ExampleOpen_parallel() {
	TestFrames := func(t *testing.T) {
		pool := slabtest.Open(t, "")
		for n := range 8 {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				if _, err := frame(pool, "hello"); err != nil {
					t.Error(err)
				}
			})
		}
	}
	run(TestFrames)
}

// Steps of one test are looked at one by one, so a failure says which of them has kept a buffer.
func ExampleNoLeaks() {
	TestSteps := func(t *testing.T) {
		pool := slabtest.Open(t, "")
		for _, message := range []string{"one", "two"} {
			if _, err := frame(pool, message); err != nil {
				t.Error(err)
			}
			slabtest.NoLeaks(t, pool)
		}
	}
	run(TestSteps)
}

// In a fuzz target each input has a pool of its own.
func ExampleOpen_fuzz() {
	FuzzFrame := func(f *testing.F) {
		f.Add("hello")
		f.Fuzz(func(t *testing.T, message string) {
			pool := slabtest.Open(t, "check=true") // finds writes beyond a buffer, too
			if _, err := frame(pool, message); err != nil {
				t.Error(err)
			}
		})
	}
	fuzz(FuzzFrame)
}
