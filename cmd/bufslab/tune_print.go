package main

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/jedib0t/go-pretty/v6/table"
)

// print tells what was found: the front in a table, and a line to paste.
func (f *finding) print(w io.Writer, o tuneOptions) error {
	if o.json {
		return f.printJSON(w)
	}
	g := newGrid("config", "footprint", "books", "miss %", "pair ns", "cost", "unseen: footprint", "unseen: miss %")
	for _, s := range f.rows() {
		u := f.unseen[s.Config]
		g.t.AppendRow(table.Row{f.mark(s), ratio3(s.Footprint), ratio3(s.Bookkeeping), percentOf(s.MissRatio),
			fmt.Sprintf("%.0f", s.PairNS), ratio3(s.Cost), ratio3(u.Footprint), percentOf(u.MissRatio)})
	}
	_, err := fmt.Fprintf(w, "%s\n%s%s\n", g.t.Render(), f.advice(o.assumed), f.howToVerify(o))
	return err
}

// rows are the defaults, the chosen line, and the rest of the front.
func (f *finding) rows() []score {
	rows := []score{f.defaults}
	for _, s := range append([]score{f.chosen}, f.front...) {
		if !slices.ContainsFunc(rows, func(r score) bool { return r.Config == s.Config }) {
			rows = append(rows, s)
		}
	}
	return rows
}

func (f *finding) mark(s score) string {
	name := s.Config
	if s.Config == f.defaults.Config {
		name = strings.TrimSpace(name + " (defaults)")
	}
	if s.Config == f.chosen.Config {
		name = "* " + name
	}
	return name
}

func ratio3(x float64) string { return fmt.Sprintf("%.3f", x) }

func percentOf(share float64) string { return fmt.Sprintf("%.2f", 100*share) }

// advice says what to do, what that saves, and what it rests on.
func (f *finding) advice(assumed string) string {
	var b strings.Builder
	if f.late {
		b.WriteString("The time was over before all was tried. ")
	}
	fmt.Fprintf(&b, "%d lines in %d replays, %.1f s.\n", len(f.tried), f.replays, f.took.Seconds())
	if assumed != "" {
		fmt.Fprintln(&b, assumed)
	}
	if f.chosen.Config == f.defaults.Config {
		fmt.Fprintf(&b, "Keep the defaults: no line costs %.0f %% less.", 100*enough)
		if f.chosen.Config != "" {
			fmt.Fprintf(&b, " They are of %s.", f.chosen.Config)
		}
		b.WriteString("\n")
		return b.String()
	}
	fmt.Fprintf(&b, "Use this line:\n\n\t%s\n\n", f.chosen.Config)
	was, is := f.unseen[f.defaults.Config], f.unseen[f.chosen.Config]
	fmt.Fprintf(&b, "On the half that the search did not see it %s (%s), with %s %% of misses and %s.\n",
		saving(was.memory(), is.memory()), bytesOf(was, is), percentOf(is.MissRatio), pace(was.PairNS, is.PairNS))
	if f.defaults.Within && !is.Within && was.Within {
		b.WriteString("But it exceeds the budget of misses there, and the defaults do not: record a longer run.\n")
	}
	return b.String()
}

// howToVerify says how to hold the next run against what was promised.
func (f *finding) howToVerify(o tuneOptions) string {
	return fmt.Sprintf("To check the promise, run the program on the line, write json.Marshal(pool.Stats()) to a file at its end, and call\n\n\tbufslab verify %s stats.json %s\n",
		quoted(f.chosen.Config, runtime.GOOS), shellWord(o.file, runtime.GOOS))
}

// shellWord writes a path so that a shell takes it for one word.
func shellWord(path, system string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/\\:._-+=,@%"
	if strings.Trim(path, plain) == "" && (system == "windows" || !strings.Contains(path, `\`)) {
		return path
	}
	return quoted(path, system)
}

// quoted puts a text in quotes, of which a shell of Unix reads single ones only as they are.
func quoted(text, system string) string {
	if system != "windows" && strings.ContainsAny(text, "$`\"\\!") {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return `"` + text + `"`
}

func saving(was, is float64) string {
	switch change := 100 * (is/was - 1); {
	case math.Abs(change) < 0.05: // which would read 0.0
		return "takes as much memory at the peak, the pool's records included"
	case change > 0:
		return fmt.Sprintf("takes %.1f %% more memory at the peak, the pool's records included", change)
	}
	return fmt.Sprintf("saves %.1f %% of the peak memory, the pool's records included", 100*(1-is/was))
}

// bytesOf tells the peaks of the largest trace.
func bytesOf(was, is score) string {
	now, before := humanize.IBytes(uint64(is.managed)), humanize.IBytes(uint64(was.managed))
	if now == before {
		return now + " managed, as before"
	}
	return fmt.Sprintf("%s managed instead of %s", now, before)
}

func pace(was, is float64) string {
	switch d := is - was; {
	case d >= 1:
		return fmt.Sprintf("some %.0f ns more a pair", d)
	case d <= -1:
		return fmt.Sprintf("some %.0f ns less a pair", -d)
	}
	return "as much time"
}

// printJSON prints every line that was tried, and then the chosen one with both halves.
func (f *finding) printJSON(w io.Writer) error {
	e := newJSON(w).e
	for _, s := range f.tried {
		if err := e.Encode(s); err != nil {
			return err
		}
	}
	return e.Encode(struct {
		Chosen         score `json:"chosen"`
		Unseen         score `json:"unseen"`
		UnseenDefaults score `json:"unseen_defaults"`
		Replays        int   `json:"replays"`
	}{f.chosen, f.unseen[f.chosen.Config], f.unseen[f.defaults.Config], f.replays})
}
