package inspect_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"weak"

	"github.com/bufslab/bufslab/inspect"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// open opens a pool for the test.
func open(t testing.TB, c slab.Config) *slab.Pool {
	t.Helper()
	p := check.Ok(slab.OpenConfig(c))(t)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// ask has a handler serve a GET.
func ask(h http.Handler, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w
}

// states decodes what a handler says in JSON. It knows every field.
func states(t *testing.T, h http.Handler) (list []inspect.State) {
	t.Helper()
	d := json.NewDecoder(ask(h, "/json").Body)
	d.DisallowUnknownFields()
	check.Must(t, d.Decode(&list))
	return list
}

func text(t *testing.T, h http.Handler) string {
	t.Helper()
	w := ask(h, "/")
	if w.Code != 200 {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// The last element of the path says what is asked for, below any prefix, with http.StripPrefix
// and without. All else is not found, and the text says what to do.
func TestPaths(t *testing.T) {
	h := inspect.Handler(open(t, slab.Config{}))
	mux := http.NewServeMux()
	mux.Handle("/debug/bufslab/", h)
	mux.Handle("/stripped/", http.StripPrefix("/stripped/", h))
	mux.Handle("/half/", http.StripPrefix("/half", h))
	mux.Handle("/half", http.StripPrefix("/half", h)) // without its slash
	mux.Handle("/exact", h)
	mux.Handle("/debug/pprof/bufslab", h)
	mux.Handle("/{$}", h)
	mux.Handle("/json", h)
	const html, data, profile, nothing = "text/html; charset=utf-8", "application/json", "application/octet-stream", "no"
	for path, want := range map[string]string{
		"/": html, "/json": data,
		"/debug/bufslab/": html, "/debug/bufslab/json": data, "/debug/bufslab/profile": profile, "/debug/bufslab/?a=b/c": html,
		"/stripped/": html, "/stripped/json": data, "/half/": html, "/half/json": data, "/half/profile": profile,
		"/debug/pprof/bufslab": profile, "/half/pprof/bufslab": profile,
		"/exact": nothing, "/half": nothing, "/debug/bufslab/bufslab": nothing, "/debug/bufslab/jso": nothing, "/debug/bufslab/json/x": nothing,
	} {
		w := ask(mux, path)
		got := w.Header().Get("Content-Type")
		if w.Code == 404 && strings.Contains(w.Body.String(), "ends in a slash") {
			got = nothing
		}
		if got != want {
			t.Errorf("%s: %d, %s", path, w.Code, w.Body)
		}
	}
}

// The profile stands beside those of net/http/pprof, which has a pattern for GET and all below.
func TestBesideTheOtherProfiles(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.Handle("GET /debug/pprof/bufslab", inspect.Handler(open(t, slab.Config{})))
	if w := ask(mux, "/debug/pprof/bufslab"); w.Code != 200 || w.Header().Get("Content-Type") != "application/octet-stream" {
		t.Errorf("%d, %s", w.Code, w.Body)
	}
}

// GET and HEAD are allowed, HEAD has no body, and other methods are told which are.
func TestMethods(t *testing.T) {
	s := httptest.NewServer(inspect.Handler(open(t, slab.Config{})))
	defer s.Close()
	for _, path := range []string{"/", "/json", "/profile"} {
		for method, want := range map[string]int{"GET": 200, "HEAD": 200, "POST": 405, "PUT": 405, "DELETE": 405, "OPTIONS": 405} {
			r := check.Ok(http.NewRequest(method, s.URL+path, nil))(t)
			w := check.Ok(http.DefaultClient.Do(r))(t)
			body := check.Ok(io.ReadAll(w.Body))(t)
			if w.StatusCode != want || (want == 405) != (w.Header.Get("Allow") == "GET, HEAD") || (method == "HEAD") != (len(body) == 0) {
				t.Errorf("%s %s: %d, %v, %d bytes", method, path, w.StatusCode, w.Header, len(body))
			}
			w.Body.Close()
		}
	}
}

// No reply may be cached or taken for something else, go tool pprof shows errors, and the page
// may ask for itself and for nothing else.
func TestHeaders(t *testing.T) {
	h := inspect.Handler(open(t, slab.Config{}))
	for _, path := range []string{"/", "/json", "/x"} {
		head := ask(h, path).Header()
		if head.Get("Cache-Control") != "no-store" || head.Get("X-Content-Type-Options") != "nosniff" || (path == "/x") != (head.Get("X-Go-Pprof") == "1") {
			t.Errorf("%s: %v", path, head)
		}
	}
	policy := ask(h, "/").Header().Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("%s has no %s", policy, want)
		}
	}
	if found := regexp.MustCompile(`unsafe|http|\*`).FindString(policy); found != "" {
		t.Errorf("%s has %s", policy, found)
	}
}

// A profile is of the pool with a name; where there is one pool it needs none.
func TestProfileOfAPool(t *testing.T) {
	h := inspect.Handler(open(t, slab.Config{Name: "a b&c", ProfileRate: 1 << 20}), open(t, slab.Config{Name: "b"}), open(t, slab.Config{Name: "b"}))
	for query, want := range map[string]int{"?pool=a+b%26c": 200, "?pool=b": 200, "?pool=b+(2)": 200, "": 400, "?pool=c": 404} {
		w := ask(h, "/profile"+query)
		if w.Code != want || want != 200 && !strings.Contains(w.Body.String(), `["a b&c" "b" "b (2)"]`) {
			t.Errorf("%q: %d, %s", query, w.Code, w.Body)
		}
	}
	if !strings.Contains(text(t, h), `href="profile?pool=a%20b%26c"`) {
		t.Error("the page has no link to it")
	}
	if page := text(t, h); strings.Contains(page, `href="profile?pool=b"`) || strings.Count(page, "There is no profile") != 2 {
		t.Error("the page offers the profile of a pool that has none")
	}
}

// It is what go tool pprof reads: the stack of what is out of that pool.
func TestProfileHasTheStack(t *testing.T) {
	p, other := open(t, slab.Config{Name: "p", ProfileRate: 512 << 10}), open(t, slab.Config{Name: "other"})
	b := check.Ok(p.Get(100 << 20))(t)
	h := inspect.Handler(p, other)
	for query, want := range map[string]bool{"?pool=p": true, "?pool=other": false} {
		raw := check.Ok(io.ReadAll(check.Ok(gzip.NewReader(ask(h, "/profile"+query).Body))(t)))(t)
		if bytes.Contains(raw, []byte("TestProfileHasTheStack")) != want {
			t.Errorf("%s: %q", query, raw)
		}
	}
	check.Must(t, b.Release())
}

// Where no call sites are kept they are estimated, and the page says so.
func TestEstimatedSites(t *testing.T) {
	p := open(t, slab.Config{ProfileRate: 512 << 10})
	b := check.Ok(p.Get(100 << 20))(t)
	h := inspect.Handler(p)
	if s := states(t, h)[0].Sites; len(s) != 1 || !s[0].Estimated || s[0].Buffers != 1 || !strings.Contains(text(t, h), "Estimated from samples") {
		t.Errorf("%+v", s)
	}
	check.Must(t, b.Release())
}

// Pools of one name are told apart, whatever they are named.
func TestNamesDiffer(t *testing.T) {
	var pools []*slab.Pool
	for _, name := range []string{"b", "b (2)", "b", "b"} {
		pools = append(pools, open(t, slab.Config{Name: name}))
	}
	var names []string
	for _, s := range states(t, inspect.Handler(pools...)) {
		names = append(names, s.Name)
	}
	if want := []string{"b", "b (2)", "b (3)", "b (4)"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

// JSON has what the pool says of itself, and its call sites added up, the most bytes first.
func TestJSONIsWhatPoolsSay(t *testing.T) {
	p := open(t, slab.Config{Name: "p", Device: "mmap", Strategy: "bestfit", OnForget: "report"})
	var out []slab.PooledBuffer
	for i := range 10 {
		out = append(out, check.Ok(p.Get(1000*i))(t))
	}
	big := check.Ok(p.Get(1 << 20))(t)
	check.Must(t, out[5].Release())
	p.FreeHeld()
	got := states(t, inspect.Handler(p))[0]
	if got.Name != "p" || got.Closed || got.Stats != p.Stats() {
		t.Errorf("%+v", got)
	}
	f := p.Fragmentation()
	if got.Fragmentation.FreeBytes != f.FreeBytes || f.FreeBytes == 0 || !slices.Equal(got.Fragmentation.FreeExtents, f.FreeExtents) {
		t.Errorf("%+v, want %+v", got.Fragmentation, f)
	}
	if len(got.Sites) != 2 || got.Sites[0].Bytes != 1<<20 || got.Sites[1].Bytes != 40000 || got.Sites[1].Buffers != 9 || !strings.Contains(got.Sites[1].Place, "inspect_test.go:") {
		t.Errorf("%+v", got.Sites)
	}
	for _, b := range append(slices.Delete(out, 5, 6), big) {
		check.Must(t, b.Release())
	}
	if text := ask(inspect.Handler(open(t, slab.Config{})), "/json").Body.String(); !strings.Contains(text, `"sites": []`) {
		t.Error(text)
	}
}

// Handler refuses pools that Open did not return, and shows that there is none.
func TestPoolsThatAreNone(t *testing.T) {
	for _, p := range []*slab.Pool{nil, {}} {
		check.Panics(t, "Handler of no pool", func() { inspect.Handler(p) })
	}
	h := inspect.Handler()
	if !strings.Contains(text(t, h), "There are no pools") || strings.TrimSpace(ask(h, "/json").Body.String()) != "[]" || ask(h, "/profile").Code != 400 {
		t.Error("no pools are not shown as none")
	}
}

// A closed pool is shown as closed, with what is still out.
func TestClosedPools(t *testing.T) {
	p, other := open(t, slab.Config{Device: "mmap", OnForget: "report"}), open(t, slab.Config{})
	b := check.Ok(p.Get(5000))(t)
	if strings.Contains(text(t, inspect.Handler(p, other)), ">closed<") {
		t.Error("an open pool is shown as closed")
	}
	_ = p.Close()
	h := inspect.Handler(p, other)
	page, all := text(t, h), states(t, h)
	if strings.Count(page, ">closed<") != 2 || !all[0].Closed || all[1].Closed || all[0].Stats.ActiveBytes != 5000 || len(all[0].Sites) != 1 {
		t.Errorf("%+v", all)
	}
	check.Must(t, b.Release())
}

// Markup in a name is text on the page, and no link or script of it.
func TestNamesAreEscaped(t *testing.T) {
	const hostile = `<script>alert(1)</script>"><img src=x onerror=alert(2)>{{.}}`
	p, q := open(t, slab.Config{Name: hostile}), open(t, slab.Config{Name: `javascript:alert(1)//'"`})
	page := text(t, inspect.Handler(p, q))
	if strings.Contains(page, "<img") || strings.Count(page, "<script") != 1 || strings.Contains(page, `href="javascript`) {
		t.Error("markup of a name is markup of the page")
	}
	if n := strings.Count(page, "&lt;script&gt;alert(1)&lt;/script&gt;"); n < 3 {
		t.Errorf("the name is shown %d times", n)
	}
}

// The page is made of nothing from elsewhere, and shows no contents.
func TestThePageNeedsNothingElse(t *testing.T) {
	p := open(t, slab.Config{Device: "mmap", OnForget: "report"})
	b := check.Ok(p.Get(5000))(t)
	copy(b.Bytes(), "a secret, a secret")
	h := inspect.Handler(p)
	page := text(t, h)
	if found := regexp.MustCompile(`(?i)(src|href)="[^#djp]|@import|url\(|ZgotmplZ|style="|secret`).FindString(page + ask(h, "/json").Body.String()); found != "" {
		t.Errorf("the page has %q", found)
	}
	check.Must(t, b.Release())
}

// Pools of every strategy can be looked at, open and closed.
func TestEveryStrategy(t *testing.T) {
	for _, device := range []string{"heap", "mmap", "virtual", "sim:1GiB"} {
		for _, strategy := range slab.Strategies() {
			p := open(t, slab.Config{Device: device, Strategy: strategy})
			b := check.Ok(p.Get(100_000))(t)
			text(t, inspect.Handler(p))
			_ = p.Close()
			text(t, inspect.Handler(p))
			check.Must(t, b.Release())
			if s := states(t, inspect.Handler(p)); s[0].Stats != p.Stats() {
				t.Errorf("%+v", s)
			}
		}
	}
}

// A handler keeps its pools, and with it they go.
func TestHandlerKeepsPoolsForItsLifeOnly(t *testing.T) {
	p := check.Ok(slab.OpenConfig(slab.Config{}))(t)
	h, kept := inspect.Handler(p), weak.Make(p)
	p = nil
	text(t, h)
	runtime.GC()
	if kept.Value() == nil {
		t.Error("the handler lost its pool")
	}
	runtime.KeepAlive(h)
	h = nil
	for range 3 {
		runtime.GC()
	}
	if kept.Value() != nil {
		t.Error("the pool is kept by nobody")
	}
}

// Everything can be asked for at once, beside pools in use, and numbers add up.
func TestConcurrentUse(t *testing.T) {
	p, q := open(t, slab.Config{Device: "mmap", Strategy: "slab", OnForget: "report", MaxBytes: 8 << 20}), open(t, slab.Config{})
	h := inspect.Handler(p, q)
	var all sync.WaitGroup
	for i, pool := range []*slab.Pool{p, q, p, q} {
		all.Go(func() {
			for n := range 2000 {
				if b, err := pool.Get(n * (i + 1)); err == nil {
					_ = b.Release()
				}
			}
		})
	}
	for _, path := range []string{"/", "/json", "/profile?pool=" + p.Name()} {
		for _, h := range []func() http.Handler{func() http.Handler { return h }, func() http.Handler { return inspect.Handler(p, q) }} {
			all.Go(func() {
				for range 50 {
					if w := ask(h(), path); w.Code != 200 {
						t.Errorf("%s: %d", path, w.Code)
					}
				}
			})
		}
	}
	all.Go(func() { _ = q.Close() })
	all.Wait()
	for _, s := range states(t, inspect.Handler(p, q)) {
		if s := s.Stats; s.ManagedBytes != s.ActiveBytes+s.RoundingBytes+s.HeldBytes+s.UnusableBytes || s.ActiveBlocks != 0 {
			t.Errorf("%+v", s)
		}
	}
}
