package device

import "os"

// A Clearer is a Device that clears host memory without touching what is zero already.
type Clearer interface {
	// Clear sets all bytes of m, which is memory of the device, to zero. Pages that the system has no memory for
	// yet stay without, if the system can tell. No other goroutine may use m meanwhile. To ask takes about as long as
	// to clear what lies in the processor's caches: it pays for large m of which little may have been used.
	Clear(m []byte)
}

// Clear implements [Clearer].
func (h hostMemory) Clear(m []byte) { clearTouched(m) }

const (
	// clearPiece bounds one clear and one question. The collector can stop a goroutine between two pieces only.
	clearPiece = 1 << 20
	// mostPages is the number of the smallest pages in a piece.
	mostPages = clearPiece / 4096
)

// clearTouched clears the pages of m that have memory. The others are zero: heap and mmap have anonymous memory
// alone, whose pages begin with zeros, and do so again after they went back to the system. (The exception is a process
// that was moved from another machine and whose pages follow when they are touched.)
func clearTouched(m []byte) {
	page := os.Getpagesize()
	var touched [mostPages]uint64
	told := page <= clearPiece
	for len(m) > 0 {
		skip := int(address(m) % uintptr(page)) // of the first page, which begins before m
		n := min(len(m), max(page, clearPiece)-skip)
		pages := touched[:(skip+n+page-1)/page]
		if told = told && readPages(address(m)/uintptr(page), pages); told {
			clearPages(m[:n], skip, page, pages)
		} else {
			clear(m[:n])
		}
		m = m[n:]
	}
}

// clearPages clears the bytes of m in pages that have memory. The first begins skip bytes before m.
func clearPages(m []byte, skip, page int, pages []uint64) {
	for i := 0; i < len(pages); {
		from, here := i, hasMemory(pages[i])
		for i < len(pages) && hasMemory(pages[i]) == here {
			i++
		}
		if here {
			clear(m[max(0, from*page-skip):min(len(m), i*page-skip)])
		}
	}
}
