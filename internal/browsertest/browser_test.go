package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// A browser has a page open, and keeps what it asked for and complained of.
type browser struct {
	context.Context
	mu       sync.Mutex
	requests []string
	faults   []string
}

// stop closes the browser, if one was started.
var stop = func() error { return nil }

func TestMain(m *testing.M) {
	code := m.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// browsing is the browser of all tests, once it has started. Each page has a profile of its own.
var browsing context.Context

// start starts the browser, if it has not started. Chromium crashes now and then before it
// answers, once in some fifty starts, so several are tried.
func start(path string) (_ context.Context, err error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	for tries := 0; browsing == nil && tries < 5; tries++ {
		allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, _ := chromedp.NewContext(allocator)
		if err = chromedp.Do(ctx); err != nil {
			end()
			continue
		}
		browsing, stop = ctx, func() error { defer end(); return chromedp.Cancel(ctx) }
	}
	return browsing, err
}

// open opens a page, or skips the test where there is no Chromium.
func open(t *testing.T, address string) *browser {
	t.Helper()
	all, err := start(chromium(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithTimeout(all, 2*time.Minute)
	t.Cleanup(end)
	ctx, _ = chromedp.NewContext(ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Error(err)
		}
	})
	b := &browser{Context: ctx}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	call(t, b, network.Enable, network.EnableParams{})
	call(t, b, log.Enable, cdp.Empty{})
	call(t, b, runtime.Enable, cdp.Empty{})
	b.do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(address))
	return b
}

// chromium returns the path of the browser, or skips the test where there is none.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("there is no Chromium to look at the page with")
	return ""
}

// listen is told what happens in the page.
func (b *browser) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *runtime.EventExceptionThrown:
		b.faults = append(b.faults, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		b.faults = append(b.faults, fmt.Sprintf("console.%s", e.Type))
	case *log.EventEntryAdded:
		b.faults = append(b.faults, e.Entry.Text)
	}
}

func (b *browser) do(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b, actions...); err != nil {
		t.Fatal(err)
	}
}

func call[P, R any](t *testing.T, b *browser, command cdp.Command[P, R], params P) R {
	t.Helper()
	result, err := chromedp.Call(b, command, params)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// eval returns what an expression is in the page.
func eval[T any](t *testing.T, b *browser, expression string) T {
	t.Helper()
	value, err := chromedp.Run(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	return value
}
