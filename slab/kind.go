package slab

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bufslab/bufslab/device"
)

// A kind is how the values of a key are written. What format gives, parse
// reads back to the same value.
type kind[T any] struct {
	parse  func(string) (T, error)
	format func(T) string
	bare   bool // numbers and booleans stand without quotes in JSON
}

var (
	texts  = kind[string]{parse: func(s string) (string, error) { return s, nil }, format: func(s string) string { return s }}
	flags  = kind[bool]{parse: strconv.ParseBool, format: strconv.FormatBool, bare: true}
	counts = kind[int]{parse: parseCount, format: strconv.Itoa, bare: true}
	shares = kind[float64]{parse: parseShare, format: formatShare, bare: true}
	sizes  = kind[int64]{parse: device.ParseSize, format: formatSize}
	spans  = kind[time.Duration]{parse: time.ParseDuration, format: time.Duration.String}
)

// parseCount takes no sign: what a negative count means has words of its own.
func parseCount(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, strconv.IntSize-1)
	return int(n), err
}

// parseShare reads 0.01 and 1%.
func parseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	return v, err
}

func formatShare(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// formatSize gives n bytes exactly, in the largest unit that divides them.
func formatSize(n int64) string {
	units := []string{"", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	i := 0
	for n != 0 && n%1024 == 0 {
		n /= 1024
		i++
	}
	return fmt.Sprint(n, units[i])
}
