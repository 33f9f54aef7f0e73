// Package inspect shows running pools over HTTP: a page for people, the same as JSON for programs,
// and profiles for go tool pprof.
//
//	http.Handle("/debug/bufslab/", inspect.Handler(uploads, replies)) // each a *slab.Pool
//
//	/debug/bufslab/          the page; it refreshes itself
//	/debug/bufslab/json      the same at this moment: an array of State
//	/debug/bufslab/profile   what is out by stack, if the pool has a profile_rate
//
// Importing it registers nothing, and does not import net/http/pprof, which would.
//
// # Who may see it
//
// The page shows how much memory a program uses and for what: sizes, counts, the names of pools,
// their configuration, and names of files, of the program's source and in that configuration. It
// never shows contents of buffers, and nothing can be changed by it. Still it is not for the
// public internet: serve it at an address of its own, on localhost, or behind a proxy that
// authenticates, as you would net/http/pprof.
//
// # The code
//
//	inspect.go    the handler: paths, methods, headers
//	state.go      what a pool is like at a moment, and its JSON
//	look.go       when pools are asked, and what is remembered of it
//	view.go       what the page shows of a pool
//	numbers.go    numbers, and pieces of bars
//	sparkline.go  lines over the last minutes
//	page.*        the page
package inspect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/bufslab/bufslab/slab"
)

// Handler returns a handler of three things, which it tells apart by the last element of the
// path:
//
//	.../         the page: numbers, the last minutes, what is out by call site, free extents
//	.../json     the same as it is now: an array with a [State] for each pool
//	.../profile  what a pool has out by stack, as [slab.Pool.WriteProfile] writes it
//
// So it works below any path, with http.StripPrefix and without. Register it for a pattern that
// ends in a slash. A path that ends in /pprof/bufslab is a profile, too, which so stands beside
// those of net/http/pprof:
//
//	http.Handle("GET /debug/pprof/bufslab", inspect.Handler(uploads))
//
// A profile is of one pool. Where there are several the request names it, as in
// profile?pool=uploads; a pool with the name of one before it has a number behind it, as in
// "uploads (2)".
//
// All else is not found (404), and methods other than GET and HEAD are not allowed (405). Such
// replies say why in plain text, which go tool pprof prints. No reply may be cached.
//
// The page refreshes itself each second by a small script, while it can be seen and is not
// paused. Without scripts it loads itself again each five seconds. Its
// Content-Security-Policy allows it to ask for itself, and for nothing else.
//
// The handler has no goroutine and no timer. For page and JSON it asks the pools when it is asked
// itself, but at most twice a second, and for a tenth of the time at most: a request in between
// is answered with what was seen last. So the lines over the last five minutes have gaps where no one looked,
// and a handler that no one looks at costs what it keeps: some tens of kilobytes for each pool.
//
// A closed pool is shown as closed, with what is still out. As long as a handler is reachable,
// and one in http.DefaultServeMux always is, so are its pools. They are not found forgotten
// then: Close those that you need no more. Without pools the page says that there are none.
// Handler panics if a pool is nil, or did not come from [slab.Open].
//
// A handler is safe for concurrent use, as its pools are meanwhile.
func Handler(pools ...*slab.Pool) http.Handler {
	h := &handler{pools: slices.Clone(pools), history: make([][]sample, len(pools))}
	for _, p := range pools {
		h.names = append(h.names, unlike(h.names, p.Name()))
	}
	return h
}

// unlike returns name, or with a number behind it if it is one of others.
func unlike(others []string, name string) string {
	numbered := name
	for n := 2; slices.Contains(others, numbered); n++ {
		numbered = fmt.Sprintf("%s (%d)", name, n)
	}
	return numbered
}

type handler struct {
	pools []*slab.Pool
	names []string // each another

	mu      sync.Mutex // of what follows; held while the pools are asked
	last    look
	history [][]sample // of each pool, the oldest first
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	serve := h.serves(r)
	switch {
	case serve == nil:
		refuse(w, http.StatusNotFound, "inspect: nothing is here. The page is at a path that ends in a slash, and json and profile are\n"+
			"beneath it: register the handler for a pattern that ends in a slash.")
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "inspect: only GET and HEAD are allowed, as nothing can be changed here")
	default:
		serve(w, r)
	}
}

// serves returns what serves a request, or nil.
func (h *handler) serves(r *http.Request) http.HandlerFunc {
	path := r.URL.Path
	switch path[strings.LastIndexByte(path, '/')+1:] {
	case "json":
		return h.json
	case "profile":
		return h.profile
	case "bufslab":
		if strings.HasSuffix(path, "/pprof/bufslab") {
			return h.profile
		}
	case "":
		// Where a prefix was stripped only the address tells: without its slash the links of
		// the page would lead elsewhere.
		if asked, _, _ := strings.Cut(r.RequestURI, "?"); asked == "" || strings.HasSuffix(asked, "/") {
			return h.page
		}
	}
	return nil
}

func (h *handler) page(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Security-Policy", policy)
	w.Header().Set("Referrer-Policy", "no-referrer")
	var b bytes.Buffer
	reply(w, "text/html; charset=utf-8", &b, page.Execute(&b, h.look().views))
}

func (h *handler) json(w http.ResponseWriter, _ *http.Request) {
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetIndent("", "  ")
	reply(w, "application/json", &b, to.Encode(h.look().states))
}

// profile writes the profile of a pool. Its name has to be given where there are several.
func (h *handler) profile(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("pool")
	i := slices.Index(h.names, name)
	switch {
	case i < 0 && name != "":
		refuse(w, http.StatusNotFound, fmt.Sprintf("inspect: there is no pool %q, but %q", name, h.names))
	case i < 0 && len(h.pools) != 1:
		refuse(w, http.StatusBadRequest, fmt.Sprintf("inspect: profile?pool=NAME is that of a pool: there are %q", h.names))
	default:
		var b bytes.Buffer
		reply(w, "application/octet-stream", &b, h.pools[max(i, 0)].WriteProfile(&b))
	}
}

// reply sends b, unless it could not be written.
func reply(w http.ResponseWriter, kind string, b *bytes.Buffer, err error) {
	if err != nil {
		refuse(w, http.StatusInternalServerError, "inspect: "+err.Error())
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = b.WriteTo(w) // it fails where the connection does
}

// refuse says in plain text what is wrong. go tool pprof prints it if it has that header.
func refuse(w http.ResponseWriter, code int, text string) {
	w.Header().Set("X-Go-Pprof", "1")
	http.Error(w, text, code)
}
