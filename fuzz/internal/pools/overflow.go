package pools

import (
	"regexp"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/slab"
)

// makesPlain reports whether a pool makes plain memory where it has no room.
func makesPlain(p *slab.Pool) bool {
	return regexp.MustCompile(`(?m)^overflow +make`).MatchString(p.Explain())
}

// out counts the upstream's blocks that are out, and their bytes as asked for. Parts share one.
func (m *poolModel) out() (blocks, bytes int64) { return m.count(false) }

func (m *poolModel) count(plain bool) (blocks, bytes int64) {
	seen := map[*block]bool{}
	for _, o := range m.live {
		if !seen[o.of] && o.of.plain == plain {
			blocks, bytes = blocks+1, bytes+int64(len(o.of.want))
		}
		seen[o.of] = true
	}
	return blocks, bytes
}

// madePlain reports whether the last buffer that was handed out is plain memory, which its pool may make.
func (m *poolModel) madePlain(t *rapid.T) bool {
	t.Helper()
	had, _ := m.count(true)
	has := m.pool.Stats().OverflowBlocks
	if has != had && !(m.makes && has == had+1) {
		t.Fatalf("%d buffers of plain memory are out, not %d", has, had)
	}
	return has > had
}

// lastIsPlain reports whether the youngest buffer is plain memory.
func (m *poolModel) lastIsPlain() bool { return m.live[len(m.live)-1].of.plain }

// isPlain reports whether the pool and the model agree about what plain memory is out.
func (m *poolModel) isPlain(blocks, bytes int64) bool {
	b, n := m.count(true)
	return b == blocks && n == bytes
}

// needPlain fails if the last buffer is plain memory of size bytes though what is held has room for it.
func (m *poolModel) needPlain(t *rapid.T, size int) {
	t.Helper()
	if !m.lastIsPlain() {
		return
	}
	m.release(t, len(m.live)-1)
	m.pool.FreeHeld()
	model.OK(t, m.try(t, size))
	if !m.lastIsPlain() {
		t.Fatalf("Get of %d bytes made plain memory while there was room for it in what is held", size)
	}
}
