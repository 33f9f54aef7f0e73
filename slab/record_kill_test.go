package slab_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/trace"
)

// lostAtMost are the bytes of rows that a kill loses: a part that fills, and one that is
// being written.
const lostAtMost = 64 << 10

// A recording can be read after kill -9, while the program is busy, up to what the
// documentation says.
func TestRecordingSurvivesAKill(t *testing.T) {
	if path := os.Getenv("BUFSLAB_TEST_RECORD"); path != "" {
		recordUntilKilled(path)
	}
	for _, name := range []string{"x.csv", "x.csv.gz"} {
		path := filepath.Join(t.TempDir(), name)
		cmd, out := startRecording(t, path)
		done := 0
		for done < 30_000 && out.Scan() {
			done, _ = strconv.Atoi(out.Text())
		}
		r := killAndLoad(t, cmd, path)
		rows := r.Allocs + r.Frees
		lost := (done - rows) * textBytes(t, path) / max(rows, 1)
		if done < 30_000 || lost > lostAtMost {
			t.Errorf("%s: %d rows of %d, about %d bytes are lost", name, rows, done, lost)
		}
	}
}

// What waits is written a second after its first call: a program that is killed while
// it does nothing has lost nothing.
func TestIdleRecordingSurvivesAKill(t *testing.T) {
	if path := os.Getenv("BUFSLAB_TEST_RECORD"); path != "" {
		pairs(openRecording(path), 50)
		_, _ = io.Copy(io.Discard, os.Stdin) // until the parent is gone
		os.Exit(0)
	}
	t.Parallel() // it waits for a second
	path := filepath.Join(t.TempDir(), "x.csv")
	cmd, _ := startRecording(t, path)
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); <-time.After(5 * time.Millisecond) {
		if text, _ := os.ReadFile(path); bytes.Count(text, []byte{'\n'}) == 102 {
			break
		}
	}
	if r := killAndLoad(t, cmd, path); r.Allocs != 50 || r.Frees != 50 {
		t.Errorf("%+v", r)
	}
}

// startRecording runs the test in a process of its own, and returns what it prints.
func startRecording(t *testing.T, path string) (*exec.Cmd, *bufio.Scanner) {
	check.StartsItself(t)
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "BUFSLAB_TEST_RECORD="+path)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip("no processes here:", err)
	}
	return cmd, bufio.NewScanner(out)
}

func killAndLoad(t *testing.T, cmd *exec.Cmd, path string) *trace.Trace {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // it says that it was killed
	r, err := trace.Load(path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return r
}

func openRecording(path string) *slab.Pool {
	p, err := slab.OpenConfig(slab.Config{Record: path})
	if err != nil {
		panic(err)
	}
	return p
}

// recordUntilKilled says after each thousand events how many there were.
func recordUntilKilled(path string) {
	p := openRecording(path)
	for n := 1000; ; n += 1000 {
		pairs(p, 500)
		fmt.Println(n)
	}
}

func pairs(p *slab.Pool, n int) {
	for i := range n {
		b, err := p.Get(100 + i)
		if err != nil || b.Release() != nil {
			panic(err)
		}
	}
}

// textBytes returns the length of a recording, uncompressed as far as it goes.
func textBytes(t *testing.T, path string) int {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if z, err := gzip.NewReader(f); err == nil {
		r = z
	} else if _, err := f.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	n, _ := io.Copy(io.Discard, r) // a member that was cut ends it
	return int(n)
}
