package trace

import (
	"bufio"
	"encoding/csv"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// FuzzRows compares rows with those of encoding/csv: the same fields, and an error in the
// same row. In quotes we keep a carriage return that is part of a newline, csv does not.
func FuzzRows(f *testing.F) {
	for _, text := range []string{"a,1,2\n\nf,1,\n", "\"a\",\"b\"\"c\",\n", "a,\"x\ny\",\"\"\n1\n", "a\"b,c\n", "\"a\"b\n", "\"\n", "a\r\n\r\nb,\r\r\n", ",\n,,\n", "\"\"\"\",\"\n\n\"\n"} {
		f.Add(text)
	}
	f.Fuzz(sameRows)
}

func TestRowsAreThoseOfCSV(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50_000 {
		var b strings.Builder
		for range 1 + rng.IntN(14) {
			b.WriteByte("ab,,\"\"\"\n\n\r"[rng.IntN(10)])
		}
		sameRows(t, b.String())
	}
}

func sameRows(t *testing.T, text string) {
	text += "\n" // or the last row would be dropped
	if len(text) > maxRow || strings.Contains(text, "\r") && strings.Contains(text, `"`) {
		return
	}
	want := csv.NewReader(strings.NewReader(text))
	want.FieldsPerRecord = -1
	got := scanner{from: bufio.NewReader(strings.NewReader(text))}
	for {
		fields, wantErr := want.Read()
		err := got.next()
		if (err == nil) != (wantErr == nil) || (err == io.EOF) != (wantErr == io.EOF) {
			t.Fatalf("%q: %v, csv says %v", text, err, wantErr)
		}
		if err != nil {
			return
		}
		var texts []string
		for _, field := range got.fields {
			texts = append(texts, string(field))
		}
		if line, _ := want.FieldPos(0); !slices.Equal(texts, fields) || got.line != line {
			t.Fatalf("%q: line %d has %q, csv finds %q on line %d", text, got.line, texts, fields, line)
		}
	}
}
