//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
)

// table has a line for each row, and one for all suites of a port that has several.
func table(rows []row) string {
	var b strings.Builder
	b.WriteString("| port | suite | tests that pass: theirs, ours | time s: theirs, ours | x | processor s | x | peak MiB | x | collections |\n")
	b.WriteString("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, r := range rows {
		name := r.port
		if r.side != "" {
			name += ", " + r.side
		}
		fmt.Fprintf(&b, "| %s | %s | %.0f, %.0f | %s | %s | %s | %.0f, %.0f |\n", name, r.suite,
			median(r.theirs, passes), median(r.ours, passes), r.pair(seconds), r.pair(processor), r.pair(mebibytes),
			median(r.theirs, collections), median(r.ours, collections))
	}
	return b.String()
}

func passes(r result) float64      { return float64(r.count("PASS")) }
func seconds(r result) float64     { return r.Time.Seconds() }
func processor(r result) float64   { return r.Processor.Seconds() }
func mebibytes(r result) float64   { return r.Resident / (1 << 20) }
func collections(r result) float64 { return float64(r.collections) }

// pair has the medians of theirs and ours, and ours divided by theirs.
func (r row) pair(of func(result) float64) string {
	theirs, ours := median(r.theirs, of), median(r.ours, of)
	return fmt.Sprintf("%.3g, %.3g | %.2f", theirs, ours, ours/theirs)
}

func median(of []result, value func(result) float64) float64 {
	var all []float64
	for _, r := range of {
		all = append(all, value(r))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// intoPage puts the text between its marks in a page.
func intoPage(page, text string) error {
	const begin, end = "<!-- ports -->\n", "<!-- end of ports -->"
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, found := bytes.Cut(old, []byte(begin))
	_, after, ended := bytes.Cut(rest, []byte(end))
	if !found || !ended {
		return fmt.Errorf("%s has no %q", page, begin)
	}
	return os.WriteFile(page, slices.Concat(before, []byte(begin+text+end), after), 0o666)
}
