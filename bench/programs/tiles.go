package main

import (
	"errors"
	"math/rand/v2"
)

const (
	layers   = 5
	numbered = 12 // tiles of a layer
)

// A tile is known by its layer, from which its size follows, and its number.
type tile struct{ layer, number int }

// side is that of the tile, in pixels: the first layer's tiles are small.
func (t tile) side() int { return 96 + 88*t.layer + 8*t.number }

// tiles draws the lines of tiles, and encodes the pixels.
func tiles(j *job) error {
	want, err := drawn()
	if err != nil {
		return err
	}
	return j.clients(4, func(c *client) (op, end func() error, err error) {
		a := j.arena()
		return func() error {
			t := tile{c.IntN(layers), c.IntN(numbered)}
			got, err := t.draw(j.memory, a)
			if err == nil && got != want[t] {
				err = wrong(got, want[t])
			}
			return err
		}, func() error { a.release(); return nil }, nil
	})
}

// drawn are the checksums of all tiles, drawn without any pool.
func drawn() (map[tile]uint32, error) {
	sums := map[tile]uint32{}
	for i := range layers * numbered {
		t := tile{i / numbered, i % numbered}
		got, err := t.draw(plain{}, made{})
		if err != nil {
			return nil, err
		}
		sums[t] = got
	}
	return sums, nil
}

// draw returns the checksum of what it has encoded.
func (t tile) draw(m memory, a arena) (uint32, error) {
	defer a.reset()
	c, err := m.canvas(t.layer, t.side()*t.side())
	if err != nil {
		return 0, err
	}
	clear(c.pixels) // there is another tile in it
	r := rand.New(rand.NewPCG(uint64(t.layer), uint64(t.number)))
	for range 30 * (1 + t.layer) {
		line, err := a.points(2 + r.IntN(60))
		if err != nil {
			return 0, errors.Join(err, m.putCanvas(c))
		}
		t.wander(line, r)
		t.trace(line, c.pixels)
	}
	encoded := m.buffer()
	defer m.done(encoded)
	err = runs(c.pixels, encoded)
	return sum(encoded.Bytes()), errors.Join(err, m.putCanvas(c))
}

// wander makes a line of points that are near each other.
func (t tile) wander(line []point, r *rand.Rand) {
	n := int32(t.side())
	at := point{r.Int32N(n), r.Int32N(n)}
	for i := range line {
		at = point{within(at.x+r.Int32N(17)-8, n), within(at.y+r.Int32N(17)-8, n)}
		line[i] = at
	}
}

func within(v, n int32) int32 { return min(max(v, 0), n-1) }

// trace sets the pixels of a line: along x, and then along y.
func (t tile) trace(line []point, pixels []byte) {
	n := int32(t.side())
	for i, to := range line[1:] {
		from := line[i]
		for x := min(from.x, to.x); x <= max(from.x, to.x); x++ {
			pixels[from.y*n+x]++
		}
		for y := min(from.y, to.y); y <= max(from.y, to.y); y++ {
			pixels[y*n+to.x]++
		}
	}
}

// runs encodes pixels as how often each value stands in a row.
func runs(pixels []byte, to buffer) error {
	for i := 0; i < len(pixels); {
		n := 1
		for i+n < len(pixels) && n < 255 && pixels[i+n] == pixels[i] {
			n++
		}
		if _, err := to.Write([]byte{byte(n), pixels[i]}); err != nil {
			return err
		}
		i += n
	}
	return nil
}
