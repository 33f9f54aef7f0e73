package growpool

import "testing"

// The bookkeeping that MemoryUsage reports is as large for each key, and begins at that of the cache, or at nothing.
func TestMetadataGrowsByTheKey(t *testing.T) {
	for maxBytes, want := range map[int64]int64{0: 0, 64 << 20: cacheBytes(64 << 20)} {
		p := open(t, Config{MaxBytes: maxBytes})
		at := []int64{p.MemoryUsage().MetadataBytes}
		for _, key := range []string{"a", "b", "c"} {
			mustGet[byte](t, p, key, 10)
			at = append(at, p.MemoryUsage().MetadataBytes)
		}
		if each := at[1] - at[0]; at[0] != want || each < 100 || each > 2000 || at[2]-at[1] != each || at[3]-at[2] != each {
			t.Errorf("MaxBytes %d: %d bytes with 0 to 3 keys", maxBytes, at)
		}
	}
}
