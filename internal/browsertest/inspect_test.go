package browsertest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bufslab/bufslab/inspect"
	"github.com/bufslab/bufslab/slab"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// A server serves the page of some pools at a path of its own.
type server struct {
	*httptest.Server
	address  string
	requests atomic.Int64
	pools    atomic.Pointer[http.ServeMux] // nil while it is down
}

// show has the server show pools.
func (s *server) show(pools ...*slab.Pool) {
	mux := http.NewServeMux()
	mux.Handle("/x/debug/bufslab/", inspect.Handler(pools...))
	s.pools.Store(mux)
}

func serve(t *testing.T, pools ...*slab.Pool) *server {
	t.Helper()
	s := &server{}
	s.show(pools...)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		if mux := s.pools.Load(); mux != nil {
			mux.ServeHTTP(w, r)
			return
		}
		http.Error(w, "down", http.StatusServiceUnavailable)
	}))
	t.Cleanup(s.Close)
	s.address = s.URL + "/x/debug/bufslab/"
	return s
}

// pool opens a pool for the test.
func pool(t *testing.T, c slab.Config) *slab.Pool {
	t.Helper()
	p, err := slab.OpenConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// get has a pool hand out buffers of some sizes, which stay out until the test ends.
func get(t *testing.T, p *slab.Pool, sizes ...int) {
	t.Helper()
	for _, n := range sizes {
		b, err := p.Get(n)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Release() })
	}
}

// several opens pools that fill every part of the page: one with extents and sites, with a name
// that is markup, one without either, and one that is closed.
func several(t *testing.T) []*slab.Pool {
	t.Helper()
	busy := pool(t, slab.Config{Name: strings.TrimSuffix(hostile, ".csv"), Device: "mmap", Strategy: "slab", OnForget: "report", MaxBytes: 64 << 20})
	var released []slab.PooledBuffer
	for i := range 200 {
		get(t, busy, 1000*i)
		b, err := busy.Get(500 * i)
		if err != nil {
			t.Fatal(err)
		}
		released = append(released, b)
	}
	for _, b := range released {
		_ = b.Release()
		_ = b.Release()
	}
	busy.FreeHeld()
	closed := pool(t, slab.Config{Device: "mmap", OnForget: "report"})
	get(t, closed, 5000)
	_ = closed.Close()
	return []*slab.Pool{busy, pool(t, slab.Config{Name: "idle"}), closed}
}

// until waits until an expression is true in the page. It looks whenever the page changes.
func until(t *testing.T, b *browser, expression string) {
	t.Helper()
	eval[bool](t, b, `new Promise(done => {
		const look = () => { if (`+expression+`) { changes.disconnect(); done(true); } };
		const changes = new MutationObserver(look);
		changes.observe(document, {childList: true, subtree: true, characterData: true, attributes: true});
		look();
	})`)
}

const active = `document.querySelector("#numbers-0 dd").textContent`

// What a pool does shows without a reload: what is open stays open. All requests go to the page's
// own address, and the browser has nothing to complain of.
func TestThePageOfPoolsIsLive(t *testing.T) {
	pools := several(t)
	s := serve(t, pools...)
	b := open(t, s.address)
	if text := eval[string](t, b, `document.querySelector("h2").textContent`); text != pools[0].Name() {
		t.Errorf("the name is shown as %q", text)
	}
	eval[bool](t, b, `document.querySelector("details").open = window.same = true`)
	before := eval[string](t, b, active)
	get(t, pools[0], 10<<20)
	until(t, b, active+` !== "`+before+`"`)
	if !eval[bool](t, b, `window.same && document.querySelector("details").open && state.textContent === "live"`) {
		t.Error("the page was loaded again")
	}
	until(t, b, `document.querySelector("#numbers-0 .line.managed").getTotalLength() > 5`)
	b.mu.Lock()
	defer b.mu.Unlock()
	others := slices.DeleteFunc(b.requests, func(url string) bool { return url == s.address || strings.HasPrefix(url, "data:") })
	if len(others) > 0 || len(b.faults) > 0 {
		t.Errorf("asked for %q, complained of %q", others, b.faults)
	}
}

// The policy keeps what gets into the page from running, and from asking others.
func TestThePolicyOfThePageHolds(t *testing.T) {
	b := open(t, serve(t, pool(t, slab.Config{})).address)
	for what, script := range map[string]string{
		"a script ran":     `(() => { const s = document.createElement("script"); s.textContent = "window.ran = true"; document.body.append(s); return !window.ran; })()`,
		"it asked another": `fetch("http://127.0.0.1:1/x").then(() => false, () => true)`,
		"it was styled":    `(() => { document.body.setAttribute("style", "color: red"); return getComputedStyle(document.body).color !== "rgb(255, 0, 0)"; })()`,
	} {
		if !eval[bool](t, b, script) {
			t.Error(what)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if refused := slices.DeleteFunc(b.faults, func(s string) bool { return !strings.Contains(s, "Content Security Policy") }); len(refused) < 3 {
		t.Errorf("the browser complained of %q only", refused)
	}
}

// The button stops the refreshing, and starts it again.
func TestPause(t *testing.T) {
	s := serve(t, pool(t, slab.Config{}))
	b := open(t, s.address)
	toggle := chromedp.Click(chromedp.CSS("#pause"))
	b.do(t, toggle)
	if text := eval[string](t, b, `state.textContent + ", " + pause.textContent`); text != "paused, Resume" {
		t.Error(text)
	}
	eval[bool](t, b, `turn().then(() => true)`) // one that was on its way is over by the next
	before := s.requests.Load()
	eval[bool](t, b, `turn().then(() => true)`)
	if n := s.requests.Load() - before; n > 0 {
		t.Errorf("%d requests of a page that pauses", n)
	}
	b.do(t, toggle)
	eval[bool](t, b, `turn().then(() => true)`)
	if s.requests.Load() == before {
		t.Error("no request of a page that goes on")
	}
}

// The page says so where there is no answer, and goes on when there is one again. It loads
// itself where there are other pools.
func TestThePageSaysThatThereIsNoAnswer(t *testing.T) {
	s := serve(t, pool(t, slab.Config{Name: "first"}))
	b := open(t, s.address)
	s.pools.Store(nil)
	until(t, b, `state.textContent.startsWith("no answer: 503")`)
	s.show(pool(t, slab.Config{Name: "first"}))
	until(t, b, `state.textContent === "live"`)
	loaded := chromedp.WaitEvent(page.LoadEventFired, nil, func(context.Context, *chromedp.Target) (chromedp.Void, error) {
		s.show(pool(t, slab.Config{Name: "second"}))
		return chromedp.Void{}, nil
	})
	if _, err := chromedp.Run(b, loaded); err != nil {
		t.Fatal(err)
	}
	if got := eval[string](t, b, `document.querySelector("h2").textContent`); got != "second" {
		t.Errorf("the page shows %s", got)
	}
}

// Without scripts the page has everything but the button, and loads itself again.
func TestThePageWithoutScripts(t *testing.T) {
	s := serve(t, several(t)...)
	b := open(t, s.address)
	call(t, b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.do(t, chromedp.Navigate(s.address))
	_, err := chromedp.Run(b, chromedp.WaitEvent(page.LoadEventFired, nil, chromedp.Evaluate[any]("0"))) // of the second time
	if err != nil {
		t.Fatal(err)
	}
	if !eval[bool](t, b, `pause.hidden && `+active+` !== "" && !!document.querySelector("noscript meta")`) {
		t.Error("something is missing")
	}
}

// colours are those of the page, of its text, and of what is drawn.
const colours = `(async () => {
	for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
	const of = (selector, property) => getComputedStyle(document.querySelector(selector))[property];
	return [of("body", "backgroundColor"), of("body", "color"), of("#numbers-0 .line.managed", "stroke"), of("#numbers-0 rect.active", "fill"), of("a", "color")];
})()`

// The page of pools follows the system.
func TestPoolsInDarkAndLight(t *testing.T) {
	b := open(t, serve(t, several(t)...).address)
	light := eval[[]string](t, b, colours)
	if light[0] != "rgb(255, 255, 255)" {
		t.Errorf("a light page is %q", light)
	}
	call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
	for i, c := range eval[[]string](t, b, colours) {
		if c == light[i] {
			t.Errorf("dark as light: %s", c)
		}
	}
}

// Nothing of the page of pools is wider than the window, from a phone to a desk, with all
// that can be opened.
func TestPoolsDoNotOverflow(t *testing.T) {
	b := open(t, serve(t, several(t)...).address)
	eval[bool](t, b, `document.querySelectorAll("details").forEach(d => d.open = true) === undefined`)
	for _, width := range []int64{320, 375, 640, 641, 800, 1280} {
		b.do(t, chromedp.EmulateViewport(width, 800))
		for _, what := range []string{overflow, scrolls} {
			if got := eval[[]string](t, b, what); len(got) > 0 {
				t.Errorf("at %d pixels %q", width, got)
			}
		}
	}
	b.do(t, chromedp.EmulateViewport(375, 800))
	eval[bool](t, b, `document.querySelectorAll(".settings").forEach(e => { e.style.display = "block"; e.style.overflow = "auto"; e.style.whiteSpace = "nowrap"; })
		=== document.querySelectorAll(".settings td").forEach(e => { e.style.whiteSpace = "nowrap"; })`)
	if got := eval[[]string](t, b, scrolls); len(got) == 0 {
		t.Error("a configuration that scrolls is not found")
	}
}
