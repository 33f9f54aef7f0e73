package ignored

import (
	"testing"

	"github.com/bufslab/bufslab/slab"
)

// A test may ignore errors and leave its pool as it is.
func TestIgnored(t *testing.T) {
	b, _ := slab.MustOpen("").Get(10)
	b.Bytes()[0] = 1
}

// It may also count second releases, which is why it makes them.
func TestTwice(t *testing.T) {
	b, _ := slab.MustOpen("").Get(10)
	b.Release()
	b.Release()
}

// A second release further on is no such count.
func TestTwiceByMistake(t *testing.T) {
	p := slab.MustOpen("")
	b, _ := p.Get(10)
	b.Release()
	p.Close()
	b.Release() // want `buffer is released again after Release`
}

// Or use what has ended, to see it panic.
func TestPanics(t *testing.T) {
	b, _ := slab.MustOpen("").Get(10)
	b.Release()
	defer func() { _ = recover() }()
	b.Bytes()[0] = 1
}

// Or look at what a function that releases leaves. What ends in the table is another thing.
func TestEnd(t *testing.T) {
	b, _ := slab.MustOpen("").Get(10)
	end(b)
	if b.Bytes() != nil {
		t.Error("there are bytes")
	}
	c, _ := slab.MustOpen("").Get(10)
	c.Release()
	c.Bytes()[0] = 1 // want `buffer is used after its Release`
}

func end(b slab.PooledBuffer) { b.Release() }

// A literal that does not recover says nothing of what the test means.
func TestNoPanic(t *testing.T) {
	b, _ := slab.MustOpen("").Get(10)
	b.Release()
	defer func() { print(recovered()) }()
	b.Bytes()[0] = 1 // want `buffer is used after its Release`
}

func recovered() bool { return false }
