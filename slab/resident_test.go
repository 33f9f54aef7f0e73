package slab

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

const residentOf = "BUFSLAB_RESIDENT_OF" // the configuration, in the child

// A pool off the Go heap that is not used leaves next to nothing resident after its idle
// time. It runs in a process of its own, so that no other memory counts.
func TestIdlePoolLeavesNothingResident(t *testing.T) {
	if line := os.Getenv(residentOf); line != "" {
		idleResident(t, line)
		return
	}
	if sanitized {
		t.Skip("the sanitizer keeps freed memory resident")
	}
	if raceEnabled {
		t.Skip("on a busy machine 2.4 to 3.1 % stay under the race detector, with nothing managed; whose they are is not known")
	}
	if runtime.GOOS != "linux" {
		t.Skip("other systems tell in other ways what is resident")
	}
	for _, line := range []string{"device=mmap,idle=10ms", "device=mmap:fixed,idle=10ms"} {
		t.Run(line, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestIdlePoolLeavesNothingResident$", "-test.v")
			cmd.Env = append(os.Environ(), residentOf+"="+line)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			_, figures, _ := strings.Cut(string(out), "resident: ")
			figures, _, _ = strings.Cut(figures, "\n")
			t.Log(figures)
		})
	}
}

func idleResident(t *testing.T, line string) {
	c, err := ParseConfig(line)
	if err != nil {
		t.Fatal(err)
	}
	p, err := OpenConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	before := residentKiB(t)
	var live [256]PooledBuffer
	for i := range live {
		if live[i], err = p.Get(1 << 20); err != nil {
			t.Fatal(err)
		}
		m := live[i].Bytes()
		for j := 0; j < len(m); j += 4096 {
			m[j] = 1
		}
	}
	peak := residentKiB(t) - before
	for _, b := range live {
		b.Release()
	}
	left := peak
	for end := time.Now().Add(10 * time.Second); left*50 > peak && time.Now().Before(end); runtime.Gosched() {
		left = residentKiB(t) - before
	}
	fmt.Printf("resident: %d KiB at the peak, %d when idle, %.2f %%\n", peak, left, 100*float64(left)/float64(peak))
	if left*50 > peak {
		t.Errorf("%d KiB of %d are resident, %d managed", left, peak, p.Stats().ManagedBytes>>10)
	}
	runtime.KeepAlive(p)
}

var statm struct {
	file *os.File
	buf  [128]byte
}

// residentKiB makes no garbage, which would be resident too.
func residentKiB(t *testing.T) (n int64) {
	if statm.file == nil {
		f, err := os.Open("/proc/self/statm")
		if err != nil {
			t.Skip(err)
		}
		statm.file = f
	}
	read, _ := statm.file.ReadAt(statm.buf[:], 0)
	_, pages, _ := bytes.Cut(statm.buf[:read], []byte(" ")) // the second field
	for _, c := range pages {
		if c == ' ' {
			break
		}
		n = n*10 + int64(c-'0')
	}
	return n * int64(os.Getpagesize()) >> 10
}
