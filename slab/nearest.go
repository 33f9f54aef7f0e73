package slab

import (
	"math"
	"strings"
)

// nearest returns the first key that an unknown one is a part of, else the one
// with the fewest edits from it.
func nearest(unknown string) string {
	best, fewest := "", math.MaxInt
	for _, o := range options {
		if strings.Contains(o.name(), unknown) {
			return o.name()
		}
		if n := edits(unknown, o.name()); n < fewest {
			best, fewest = o.name(), n
		}
	}
	return best
}

// edits counts the letters to insert, delete or replace to make b of a. It
// keeps one row of the usual table: row[j] is the count for a[:i] and b[:j].
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			n := diagonal
			if a[i] != b[j] {
				n = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], n
		}
	}
	return row[len(b)]
}
