package compat

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bufslab/bufslab/adapt"
	"github.com/bufslab/bufslab/slab"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/experimental"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// A server in a pod, in a process of its own: twice as many calls at a time as its pool has room for.

// pods are what its adapter does where the pool has no room.
var pods = []struct {
	name, line string
	options    []adapt.Option
}{
	{"no bound", "", nil},
	{"max_bytes", "max_bytes=64MiB", nil},
	{"max_bytes, Wait", "max_bytes=64MiB", []adapt.Option{adapt.Wait(50 * time.Millisecond)}},
	{"overflow=make", "max_bytes=64MiB,overflow=make", nil},
}

const (
	podBytes   = 1 << 20 // of a message
	podCallers = 128
)

// A podResult is what a server tells at its end.
type podResult struct{ Managed, Overflow, Resident, Made int64 }

// TestServeInAPod is the server, where a test has started it.
func TestServeInAPod(t *testing.T) {
	i, err := strconv.Atoi(os.Getenv("COMPAT_POD"))
	if err != nil {
		t.Skip("a server for TestAServerInAPod")
	}
	p := slab.MustOpen(pods[i].line)
	g := adapt.GRPC(p, pods[i].options...)
	experimental.SetDefaultBufferPool(g)
	server := grpc.NewServer(experimental.BufferPool(g))
	server.RegisterService(&echo, nil)
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve(at)
	fmt.Println("at", at.Addr())
	most := atomic.Int64{}
	go func() {
		for range time.Tick(time.Millisecond) {
			most.Store(max(most.Load(), p.Stats().OverflowBytes))
		}
	}()
	bufio.NewReader(os.Stdin).ReadString('\n')
	status, _ := os.ReadFile("/proc/self/status")
	r := podResult{Managed: p.Stats().PeakManagedBytes, Overflow: most.Load(), Made: g.Made()}
	if _, after, ok := strings.Cut(string(status), "VmHWM:"); ok {
		fmt.Sscan(after, &r.Resident)
	}
	json.NewEncoder(os.Stdout).Encode(r)
	server.Stop()
}

// No call fails whatever the adapter does; only a wait, or no bound, decides what the process takes.
func TestAServerInAPod(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts servers")
	}
	calls := 1000
	if os.Getenv("BUFSLAB_STRESS") != "" {
		calls = 20_000
	}
	for i, pod := range pods {
		failed, times, r := callPod(t, i, calls)
		t.Logf("%-16s %d of %d calls failed, p50 %v, p99 %v, %d MiB managed, %d MiB beyond, %d buffers made, %d MiB resident", pod.name,
			failed, calls, times[calls/2].Round(time.Millisecond), times[calls*99/100].Round(time.Millisecond), r.Managed>>20,
			r.Overflow>>20, r.Made, r.Resident>>10)
		if bounded := pod.line != ""; failed > 0 || bounded && r.Managed > 64<<20 || !bounded && r.Made > 0 {
			t.Errorf("%s: %d calls failed, %+v", pod.name, failed, r)
		}
	}
}

// callPod has callers call a server, each one call after the other.
func callPod(t *testing.T, i, calls int) (failed int64, times []time.Duration, r podResult) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestServeInAPod$")
	child.Env = append(os.Environ(), "COMPAT_POD="+strconv.Itoa(i))
	in, _ := child.StdinPipe()
	out, _ := child.StdoutPipe()
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Wait()
	lines := bufio.NewReader(out)
	at, _ := lines.ReadString('\n')
	request := wrapperspb.Bytes(bytes.Repeat([]byte("pod."), podBytes/4))
	times = make([]time.Duration, calls)
	var next, bad atomic.Int64
	var all sync.WaitGroup
	for range podCallers {
		all.Go(func() {
			c, err := grpc.NewClient(strings.TrimSpace(strings.TrimPrefix(at, "at ")), grpc.WithTransportCredentials(insecure.NewCredentials()))
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			answer := new(wrapperspb.BytesValue)
			for n := next.Add(1); n <= int64(calls); n = next.Add(1) {
				begin := time.Now()
				if err := c.Invoke(t.Context(), "/compat.Echo/Echo", request, answer); err != nil || len(answer.Value) != podBytes {
					bad.Add(1)
				}
				times[n-1] = time.Since(begin)
			}
		})
	}
	all.Wait()
	slices.Sort(times)
	in.Write([]byte("\n"))
	if err := json.NewDecoder(lines).Decode(&r); err != nil {
		t.Error(err)
	}
	return bad.Load(), times, r
}
