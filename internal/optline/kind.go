package optline

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Kind is how values of type T are written. Parse reads the text that Format
// returns back to the same value.
type Kind[T any] struct {
	Parse  func(string) (T, error)
	Format func(T) string
	Bare   bool   // values stand without quotes in JSON
	On     string // the value of a key that stands alone in a line, such as check; "" where it needs a value
}

// The kinds of values that need nothing from outside; see also [Sizes].
var (
	// Strings are taken as they are.
	Strings = Kind[string]{Parse: func(s string) (string, error) { return s, nil },
		Format: func(s string) string { return s }}
	// Bools are true and false, and what else [strconv.ParseBool] reads.
	Bools = Kind[bool]{Parse: strconv.ParseBool, Format: strconv.FormatBool, Bare: true, On: "true"}
	// Switches are on and off.
	Switches = Kind[bool]{Parse: parseSwitch,
		Format: func(on bool) string { return map[bool]string{true: "on", false: "off"}[on] }, On: "on"}
	// Counts are decimal integers without a sign: a negative count needs a word.
	Counts = Kind[int]{Parse: parseCount, Format: strconv.Itoa, Bare: true}
	// Fractions are numbers such as 0.01, which may be written 1%.
	Fractions = Kind[float64]{Parse: parseFraction, Format: formatFraction, Bare: true}
	// Shares are percentages such as 75%, which are written with as many digits as they need.
	Shares = Kind[float64]{Parse: parseShare, Format: formatShare}
	// Durations are what [time.ParseDuration] reads.
	Durations = Kind[time.Duration]{Parse: time.ParseDuration, Format: time.Duration.String}
)

// Sizes are numbers of bytes that parse reads. They are written exactly, in the
// largest of the units KiB to EiB that divides them; parse must know these.
func Sizes[T int | int64](parse func(string) (int64, error)) Kind[T] {
	return Kind[T]{Parse: func(text string) (T, error) {
		n, err := parse(text)
		if err == nil && int64(T(n)) != n { // where int has 32 bits
			err = strconv.ErrRange
		}
		return T(n), err
	}, Format: func(n T) string { return formatSize(int64(n)) }}
}

func parseSwitch(text string) (bool, error) {
	if text != "on" && text != "off" {
		return false, strconv.ErrSyntax
	}
	return text == "on", nil
}

func parseCount(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, strconv.IntSize-1)
	return int(n), err
}

func parseFraction(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	return v, err
}

func formatFraction(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// parseShare moves the decimal point in the text: to divide by 100 would round.
func parseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	if !percent {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(strings.TrimSpace(number)+"e-2", 64)
}

// formatShare moves it back.
func formatShare(v float64) string {
	whole, part, _ := strings.Cut(formatPlain(v), ".")
	for len(part) < 2 {
		part += "0"
	}
	whole, part = strings.TrimLeft(whole+part[:2], "0"), part[2:]
	if part != "" {
		part = "." + part
	}
	return cmp.Or(whole, "0") + part + "%"
}

func formatPlain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func formatSize(n int64) string {
	units := []string{"", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	i := 0
	for n != 0 && n%1024 == 0 {
		n /= 1024
		i++
	}
	return fmt.Sprint(n, units[i])
}
