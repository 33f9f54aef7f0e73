package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// schema is that of the CSV, derived that of what is made of it.
var (
	schema = arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "country", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "count", Type: arrow.PrimitiveTypes.Int32},
		{Name: "price", Type: arrow.PrimitiveTypes.Float32},
		{Name: "paid", Type: arrow.FixedWidthTypes.Boolean},
		{Name: "comment", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	derived = arrow.NewSchema(append(schema.Fields(),
		arrow.Field{Name: "value", Type: arrow.PrimitiveTypes.Float64}), nil)
)

var (
	countries = strings.Fields("ar at au be br ca ch cl cn co cz de dk es fi fr gb gr hu id ie il in it jp kr mx nl no nz pe pl pt ro se sg th tr us za")
	words     = strings.Fields("late early broken blue heavy again gift fragile returned exchange second express slow thanks never")
)

// A table is the CSV, made while it is read, the same every time.
type table struct {
	rest int // rows to come
	id   int
	r    *rand.Rand
	line []byte // what has been made and not read yet
}

func newTable(rows int) io.Reader {
	return &table{rest: rows, r: rand.New(rand.NewPCG(18, 7)), line: []byte("id,country,count,price,paid,comment\n")}
}

func (t *table) Read(b []byte) (int, error) {
	if len(t.line) == 0 {
		if t.rest == 0 {
			return 0, io.EOF
		}
		t.rest--
		t.id += 1 + t.r.IntN(5)
		t.line = fmt.Appendf(t.line, "%d,%s,%d,%.2f,%t,%s\n", t.id, t.country(), 1+t.r.IntN(40),
			t.r.ExpFloat64()*30, t.r.IntN(10) > 0, t.comment())
	}
	n := copy(b, t.line)
	t.line = t.line[n:]
	return n, nil
}

// country favors the first ones, as sales do.
func (t *table) country() string {
	return countries[min(int(t.r.ExpFloat64()*8), len(countries)-1)]
}

// comment is mostly missing and sometimes long.
func (t *table) comment() string {
	if t.r.IntN(4) > 0 {
		return ""
	}
	var c []string
	for range 1 + int(t.r.ExpFloat64()*6) {
		c = append(c, words[t.r.IntN(len(words))])
	}
	return strings.Join(c, " ")
}
