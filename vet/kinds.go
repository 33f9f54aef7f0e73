package vet

// A kind is a kind of pooled memory: how its life ends, and what counts as a use of it.
type kind struct {
	noun string // for messages
	ends string // the function that ends its life, for messages
	// owned: each one has to be released, and errors of the call that gets one count.
	owned bool
	// access: reading or writing it, or passing it on, is a use. Of the others only the
	// methods are that the table lists, as a stale handle may be copied and returned.
	access bool
	// counted: it has a count of references. It ends only if this function has the one
	// reference that there is.
	counted bool
	// reusable: it begins anew after its Release, which may be called twice.
	reusable bool
}

var (
	handle   = &kind{noun: "buffer", ends: "Release", owned: true}
	bytes    = &kind{noun: "byte slice", ends: "Put", owned: true, access: true}
	writer   = &kind{noun: "Buffer", ends: "Release", owned: true, reusable: true}
	reader   = &kind{noun: "Body", ends: "Close", owned: true, reusable: true}
	pieces   = &kind{noun: "Arena", ends: "Release", owned: true, reusable: true}
	pooled   = &kind{noun: "pooled object", ends: "Put", access: true}
	refcount = &kind{noun: "counted memory", ends: "Release", counted: true}
	view     = &kind{noun: "slice", access: true}
)
