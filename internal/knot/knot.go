package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
)

// largestKnot returns the largest strongly connected component, by Tarjan's algorithm.
func largestKnot(u uses) (largest []string) {
	index, low := map[string]int{}, map[string]int{}
	var stack []string
	var visit func(string)
	visit = func(v string) {
		index[v] = len(index) + 1
		low[v] = index[v]
		stack = append(stack, v)
		for _, w := range slices.Sorted(maps.Keys(u[v])) {
			if index[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if slices.Contains(stack, w) {
				low[v] = min(low[v], index[w])
			}
		}
		if low[v] == index[v] {
			at := slices.Index(stack, v)
			if len(stack)-at > len(largest) {
				largest = slices.Clone(stack[at:])
			}
			stack = stack[:at]
		}
	}
	for _, v := range slices.Sorted(maps.Keys(u)) {
		if index[v] == 0 {
			visit(v)
		}
	}
	slices.Sort(largest)
	return largest
}

// printKnot says what joins the files of a knot, the strongest first.
func printKnot(w io.Writer, u uses, knot []string) {
	type edge struct {
		from, to string
		n        int
	}
	var edges []edge
	for _, from := range knot {
		for to, n := range u[from] {
			if slices.Contains(knot, to) {
				edges = append(edges, edge{from, to, n})
			}
		}
	}
	slices.SortFunc(edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	for _, e := range edges {
		fmt.Fprintf(w, "%6d  %s -> %s\n", e.n, e.from, e.to)
	}
}
