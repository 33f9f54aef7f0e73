package main

import (
	"encoding/json"
	"fmt"
	"hash"
	"hash/crc32"
	"net/http"
	"net/http/httptest"
)

// An item is what a JSON API answers a list of.
type item struct {
	ID     int               `json:"id"`
	Title  string            `json:"title"`
	Price  float64           `json:"price"`
	Labels map[string]string `json:"labels"`
}

// lengths are those of lists: most are short, and one in rare is the export of everything.
var lengths = []int{30, 80, 150, 300, 500, 900, 1400}

const (
	exported = 45_000
	rare     = 600
)

func items(n int) []item {
	list := make([]item, n)
	for i := range list {
		list[i] = item{i, "an item, and what it is called", float64(i) / 7, map[string]string{"colour": "green"}}
	}
	return list
}

// A reader takes a response as a connection would, and adds it up.
type reader struct {
	http.ResponseWriter
	sum hash.Hash32
}

func (r reader) Write(b []byte) (int, error) { return r.sum.Write(b) }

// answers encodes lists into buffers, as an API does that answers with an error where the
// encoding fails half way.
func answers(j *job) error {
	all := items(exported)
	want := map[int]uint32{}
	for _, n := range append(lengths, exported) {
		b, err := json.Marshal(all[:n])
		if err != nil {
			return err
		}
		want[n] = sum(append(b, '\n')) // as an Encoder ends it
	}
	return j.each(4, func(c *client) error {
		n := lengths[c.IntN(len(lengths))]
		if c.IntN(rare) == 0 {
			n = exported
		}
		w := reader{httptest.NewRecorder(), crc32.NewIEEE()}
		if err := j.answer(w, all[:n]); err != nil {
			return err
		}
		if got := w.sum.Sum32(); got != want[n] {
			return wrong(got, want[n])
		}
		return nil
	})
}

func (j *job) answer(w http.ResponseWriter, list []item) error {
	b := j.buffer()
	defer j.done(b)
	if err := json.NewEncoder(b).Encode(list); err != nil {
		return err
	}
	w.Header().Set("Content-Length", fmt.Sprint(b.Len()))
	_, err := b.WriteTo(w)
	return err
}
