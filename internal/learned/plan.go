package learned

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A plan is text, gzip or not, with a line for every allocation in the order of the program:
//
//	bufslab plan 1
//	4096 0
//	100 4096
//	step
//	4096 32
//	end b63a022b
//
// A line has the size and the offset in bytes. The line step stands where the program began
// another step. The line end is the last and has the CRC-32 of all text before it, so that a
// file that was cut short or damaged is found out.

// A Hint says where a block of Size bytes lies best.
type Hint struct{ Size, Off int }

// A Plan has the hints of each step, in the order of allocation.
type Plan [][]Hint

const (
	header   = "bufslab plan 1"
	stepLine = "step"
	endLine  = "end "
	maxLines = 1 << 22 // that are read: a plan is held in memory
)

// Bytes returns the end of the highest block.
func (p Plan) Bytes() (most int64) {
	for _, hints := range p {
		for _, h := range hints {
			most = max(most, int64(h.Off)+int64(h.Size))
		}
	}
	return most
}

// maxGap is more than the alignment of blocks leaves between them.
const maxGap = 4096

// Dense reports whether the blocks leave no gaps. Those of package planner leave none, as each
// lies at 0 or on another one: a plan with gaps was not made so, and its places would take
// memory that nobody uses.
func (p Plan) Dense() bool {
	all := slices.Concat(p...)
	slices.SortFunc(all, func(a, b Hint) int { return cmp.Compare(a.Off, b.Off) })
	top := 0
	for _, h := range all {
		if h.Off-top >= maxGap {
			return false
		}
		top = max(top, h.Off+h.Size)
	}
	return true
}

// lines is how many lines the text of p has.
func (p Plan) lines() int {
	n := len(p) + 1 // the header, a line between two steps, and the end
	for _, hints := range p {
		n += len(hints)
	}
	return n
}

// WritePlan writes the text of p. It fails where ReadPlan would.
func WritePlan(w io.Writer, p Plan) error {
	if p.lines() > maxLines {
		return errLong
	}
	sum := crc32.NewIEEE()
	b := bufio.NewWriter(io.MultiWriter(w, sum))
	fmt.Fprintln(b, header)
	for i, hints := range p {
		if i > 0 {
			fmt.Fprintln(b, stepLine)
		}
		for _, h := range hints {
			fmt.Fprintln(b, h.Size, h.Off)
		}
	}
	if err := b.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s%08x\n", endLine, sum.Sum32())
	return err
}

// What can be wrong with a plan.
var (
	errHeader = errors.New("want the first line " + header)
	errCut    = errors.New("the line end is missing: the file was cut short")
	errRest   = errors.New("something follows the line end")
	errSum    = errors.New("the checksum in the line end is another: the file was damaged")
	errLong   = fmt.Errorf("more than %d lines", maxLines)
)

// PlanOf returns the plan in a file, none if no file is named.
func PlanOf(file string) (Plan, error) {
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := ReadPlan(f)
	if err != nil {
		return nil, &FileError{file, err}
	}
	return p, nil
}

// ReadPlan reads a plan. Blocks may overlap, and lie anywhere.
func ReadPlan(r io.Reader) (Plan, error) {
	plain, err := uncompressed(r)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(plain)
	if !lines.Scan() || lines.Text() != header {
		return nil, errors.Join(lines.Err(), errHeader)
	}
	return readSteps(lines)
}

// uncompressed tells by the first bytes whether to decompress.
func uncompressed(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	if magic, _ := b.Peek(2); !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return b, nil
	}
	return gzip.NewReader(b)
}

func readSteps(lines *bufio.Scanner) (Plan, error) {
	p := Plan{nil}
	sum := crc32.NewIEEE()
	fmt.Fprintln(sum, header)
	for n := 2; lines.Scan(); n++ {
		switch line := lines.Text(); {
		case n > maxLines:
			return nil, errLong
		case strings.HasPrefix(line, endLine):
			if err := readEnd(lines, fmt.Sprintf("%s%08x", endLine, sum.Sum32())); err != nil {
				return nil, err
			}
			return p, nil
		case line == stepLine:
			p = append(p, nil)
		default:
			h, err := parse(line)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			p[len(p)-1] = append(p[len(p)-1], h)
		}
		fmt.Fprintln(sum, lines.Text())
	}
	return nil, errors.Join(lines.Err(), errCut)
}

// readEnd looks at the last line, and for what follows it.
func readEnd(lines *bufio.Scanner, want string) error {
	switch {
	case lines.Text() != want:
		return errSum
	case lines.Scan():
		return errRest
	}
	return lines.Err()
}

// parse reads the line of a block.
func parse(line string) (h Hint, err error) {
	size, off, _ := strings.Cut(line, " ")
	h.Size, err = strconv.Atoi(size)
	if err == nil {
		h.Off, err = strconv.Atoi(off)
	}
	if err != nil || h.Size <= 0 || h.Off < 0 || h.Off > math.MaxInt-h.Size {
		return h, fmt.Errorf("want SIZE OFFSET, step or end, not %.40q", line)
	}
	return h, nil
}
