package inspect

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"regexp"
	"strconv"

	"github.com/bufslab/bufslab/slab"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

// page is html/template, which escapes names of pools and places where they stand.
var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"bytes":  size,
	"count":  count,
	"rate":   hitRate,
	"style":  func() template.CSS { return template.CSS(pageCSS) },
	"script": func() template.JS { return template.JS(pageJS) },
	"short":  short,
	"plain":  func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) },
}).Parse(pageHTML))

// policy lets the page ask for itself, and run this script and style only.
var policy = "default-src 'none'; connect-src 'self'; img-src data:; script-src '" + hash(pageJS) + "'; style-src '" + hash(pageCSS) +
	"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// A view is what the page shows of a pool.
type view struct {
	ID int // which pool it is, for links in the page
	State
	Numbers      []number
	Warnings     []string
	Parts        []part // of what is managed
	Memory, Gets sparkline
	More         int // sites that are not shown
	Free         []extents
	Metrics      []slab.Metric
	Settings     []setting
	Notes        []string // on them
	Profiled     bool     // it has a profile_rate
}

// unprofiled is the line of a Config without a profile.
var unprofiled = regexp.MustCompile(`(?m)^profile_rate +none `)

// mostSites is how many sites the page shows; JSON has all.
const mostSites = 10

func viewOf(id int, s State, p *slab.Pool, history []sample) view {
	config := p.Explain()
	v := view{ID: id, State: s, Profiled: !unprofiled.MatchString(config)}
	v.Settings, v.Notes = settingsOf(config)
	v.Numbers, v.Warnings = numbersOf(s.Stats), warningsOf(s.Stats)
	v.Parts = partsOf(s.Stats)
	v.Memory = draw("Memory", [2]string{"managed", "active"}, memory(history), history, size)
	v.Gets = draw("Gets", [2]string{"hits", "misses"}, gets(history), history, func(n int64) string { return count(n) + " a second" })
	v.More = max(0, len(s.Sites)-mostSites)
	v.Sites = s.Sites[:len(s.Sites)-v.More]
	v.Free = freeOf(s.Fragmentation)
	for m := range p.Metrics() {
		v.Metrics = append(v.Metrics, m)
	}
	return v
}
