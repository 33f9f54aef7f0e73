// Package chart draws lines and bars as paths of SVG. Package inspect and bufslab report draw with it.
package chart

import (
	"fmt"
	"strings"
)

// A Frame is the part of an image that has the values, in units of the image.
type Frame struct{ Left, Top, Right, Bottom float64 }

// A Point is a place in a frame: X from 0 at the left to 1 at the right, Y from 0 at the bottom to 1 at the top.
type Point struct {
	X, Y   float64
	Begins bool // after a gap: no line leads here
}

// At returns where a point stands in the image.
func (f Frame) At(p Point) (x, y float64) {
	return f.Left + (f.Right-f.Left)*p.X, f.Bottom - (f.Bottom-f.Top)*p.Y
}

// Line is the path of a line through points. One that nothing follows is a dot.
func (f Frame) Line(points []Point) string {
	var path strings.Builder
	for _, p := range points {
		x, y := f.At(p)
		if p.Begins {
			fmt.Fprintf(&path, "M%.1f %.1fh0", x, y)
		}
		fmt.Fprintf(&path, "L%.1f %.1f", x, y)
	}
	return path.String()
}

// Area is the path of what lies below the line through points.
func (f Frame) Area(points []Point) string {
	var path strings.Builder
	for i, p := range points {
		x, y := f.At(p)
		if p.Begins {
			fmt.Fprintf(&path, "M%.1f %g", x, f.Bottom)
		}
		fmt.Fprintf(&path, "L%.1f %.1f", x, y)
		if i == len(points)-1 || points[i+1].Begins {
			fmt.Fprintf(&path, "L%.1f %gz", x, f.Bottom)
		}
	}
	return path.String()
}
