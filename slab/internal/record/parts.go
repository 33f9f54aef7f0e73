package record

import (
	"sync"
	"time"

	"github.com/bufslab/bufslab/internal/tracefile"
)

// partBytes are what a program has to wait at. A row that begins before is in the part, too: so
// that and a part on its way, which is what a kill loses, are no more than tracefile.PartBytes.
const partBytes = tracefile.PartBytes/2 - maxRow

// parts are the rows of a file on their way. The lock of the Recorder guards all fields; while a
// part is written it is not held.
type parts struct {
	writer
	out     *tracefile.Writer // nil: none
	changed sync.Cond         // there is room, or no part is being written
	timer   *time.Timer       // writes rows that have waited for a second
	spare   []byte            // for rows to come; it may be being written
	due     bool              // a flush was started and has not taken the rows yet
	busy    bool              // a part is being written
	err     error             // the first, after which nothing is written
}

func (p *parts) open(mu *sync.Mutex, out *tracefile.Writer, c columns) {
	p.changed.L, p.out, p.columns = mu, out, c
	p.rows, p.spare = make([]byte, 0, partBytes+maxRow), make([]byte, 0, partBytes+maxRow)
	p.timer = time.AfterFunc(tracefile.Every, p.flush)
}

// begin writes the header at once, so that what a killed program leaves is a trace.
func (p *parts) begin() { _, p.err = p.out.Write(p.header()) }

// isFull reports whether the program has to wait: what writes is behind.
func (p *parts) isFull() bool { return len(p.rows) >= partBytes }

// add appends the row of an event, and sees to it that it will be written.
func (p *parts) add(e *event, key string) {
	before := len(p.rows)
	p.writer.add(e, key)
	switch {
	case before == 0:
		p.timer.Reset(tracefile.Every)
	case before >= partBytes/2 && !p.due:
		p.due = true
		go p.flush()
	}
}

func (p *parts) flush() {
	p.changed.L.Lock()
	defer p.changed.L.Unlock()
	p.flushLocked()
}

// flushLocked writes the rows. It gives up the lock while it waits, and while it writes.
func (p *parts) flushLocked() {
	for p.busy {
		p.changed.Wait()
	}
	p.due = false
	if len(p.rows) == 0 || p.out == nil {
		return
	}
	part := p.rows
	p.rows, p.busy = p.spare[:0], true
	p.changed.Broadcast()
	defer func() {
		p.spare, p.busy = part, false
		p.changed.Broadcast()
	}()
	if p.err == nil {
		p.err = p.write(part)
	}
}

// write writes a part without the lock, which is held again after a panic, too.
func (p *parts) write(part []byte) error {
	p.changed.L.Unlock()
	defer p.changed.L.Lock()
	_, err := p.out.Write(part)
	return err
}

// close writes what there is. Nothing is added any more.
func (p *parts) close() {
	p.timer.Stop()
	p.flushLocked()
	if p.out == nil {
		return
	}
	if err := p.out.Close(); p.err == nil {
		p.err = err
	}
}
