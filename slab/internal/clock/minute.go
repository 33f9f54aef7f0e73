package clock

import (
	"slices"
	"time"
)

// A minute knows the most of the last minute, and of up to two buckets more: a minute that slides by each tick would
// have a number for each.
type minute struct {
	most  [time.Minute/bucket + 1]int64 // of each bucket; the one of now is at
	at    int
	ticks int // of a bucket
	now   int // ticks of the bucket at
}

// bucket is a twelfth of a minute.
const bucket = 5 * time.Second

// length is the number of ticks after which a minute has forgotten.
func (m *minute) length() int { return len(m.most) * m.ticks }

// tick adds the most since the last tick, and returns the most of the minute.
func (m *minute) tick(n int64) (most int64) {
	m.most[m.at] = max(m.most[m.at], n)
	most = slices.Max(m.most[:])
	if m.now++; m.now >= m.ticks {
		m.at, m.now = (m.at+1)%len(m.most), 0
		m.most[m.at] = 0
	}
	return most
}
