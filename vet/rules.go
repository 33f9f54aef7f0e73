package vet

// An op is the part that a function has in the life of memory.
type op int

const (
	neutral op = iota // it may be called at any time, as Len
	acquire           // its first result is owned by the caller
	release           // it ends its argument
	reset             // it ends slices of its argument, and keeps that
	retain            // it adds a reference to its argument
	use               // it must not be called on what has ended
	show              // a use, whose first result is a view of its argument
	part              // a use, whose first result is an owner of its own
	grow              // unless it fails it ends its argument, and its first result is the new one
	detach            // unless it fails its argument is empty, and its first result owns what that had
	lend              // a use, which calls its function with a view or a buffer that ends when it returns
)

// A rule says what a function is. pkg and name may have a * as path.Match knows it.
type rule struct {
	pkg, recv, name string // recv is "" of functions, and * of the methods of any type
	op              op
	arg             int // which argument it is about; the receiver is number 0
	kind            *kind
}

const (
	bufslab = "github.com/bufslab/bufslab/"
	valyala = "github.com/valyala/bytebufferpool"
	grpcMem = "google.golang.org/grpc/mem"
	proxies = "net/http/httputil"
	thanos  = "github.com/thanos-io/thanos/pkg/pool"
)

// arrows are the packages of Arrow for Go, under its old and its new path.
var arrows = []string{
	"github.com/apache/arrow-go/v*/arrow",
	"github.com/apache/arrow-go/v*/arrow/*",
	"github.com/apache/arrow/go/v*/arrow",
	"github.com/apache/arrow/go/v*/arrow/*",
}

// rules is the table of all that begins and ends the life of pooled memory. Where two fit
// a function, the first counts.
var rules = concat(
	// Handles of bufslab.
	methods(bufslab+"slab", "Pool", acquire, handle, "Get", "GetZeroed", "GetContext", "GetOn"),
	methods(bufslab+"slab", "PooledBuffer", release, handle, "Release"),
	methods(bufslab+"slab", "PooledBuffer", show, handle, "Bytes", "Block"),
	methods(bufslab+"slab", "PooledBuffer", part, handle, "Share", "Slice"),
	methods(bufslab+"slab", "PooledBuffer", grow, handle, "Grow"),
	methods(bufslab+"slab", "PooledBuffer", lend, handle, "With"),
	methods(bufslab+"slab", "PooledBuffer", use, handle, "UsedOn"),
	methods(bufslab+"slab", "PooledBuffer", neutral, handle, "*"),
	methods(bufslab+"slab", "Ref", acquire, handle, "Get"),
	functions(bufslab+"slab", acquire, handle, "Make"),
	methods(bufslab+"slab", "Slice", release, handle, "Release"),
	methods(bufslab+"slab", "Slice", show, handle, "Slice"),
	methods(bufslab+"slab", "Slice", neutral, handle, "*"),

	// Slices without a handle.
	methods(bufslab+"slab", "Pool", acquire, bytes, "GetBytes", "GetBytesContext"),
	argument(1, methods(bufslab+"slab", "Pool", release, bytes, "Put")),

	// Buffers to write to, and arenas: in packages of their own, and before that in slab.
	functions(bufslab+"iobuf", acquire, writer, "New"),
	functions(bufslab+"iobuf", acquire, handle, "ReadReady", "ReadConn"),
	functions(bufslab+"iobuf", acquire, reader, "NewBody"),
	methods(bufslab+"iobuf", "Buffer", detach, reader, "Body"),
	methods(bufslab+"iobuf", "Body", release, reader, "Close"),
	methods(bufslab+"iobuf", "Body", part, reader, "Another"),
	methods(bufslab+"iobuf", "Body", neutral, reader, "*"),
	functions(bufslab+"slab", acquire, writer, "NewBuffer"),
	writers(bufslab+"iobuf"),
	writers(bufslab+"slab"),
	functions(bufslab+"arena", acquire, pieces, "New"),
	functions(bufslab+"arena", show, pieces, "Make"),
	functions(bufslab+"slab", acquire, pieces, "NewArena"),
	argument(0, functions(bufslab+"slab", show, pieces, "MakeIn")),
	arenas(bufslab+"arena"),
	arenas(bufslab+"slab"),

	// Leases of keyed buffers.
	functions(bufslab+"growpool", acquire, handle, "Acquire", "AcquireOn"),
	functions(bufslab+"growpool", lend, handle, "With"),
	methods(bufslab+"growpool", "Ref", acquire, handle, "Get"),
	methods(bufslab+"growpool", "Lease", release, handle, "Release"),
	methods(bufslab+"growpool", "Lease", show, handle, "Slice", "Row", "Block"),
	methods(bufslab+"growpool", "Lease", use, handle, "At", "Set"),
	methods(bufslab+"growpool", "Lease", neutral, handle, "*"),
	methods(bufslab+"growpool", "View", show, handle, "Slice", "Row", "Block"),
	methods(bufslab+"growpool", "View", use, handle, "At", "Set"),
	methods(bufslab+"growpool", "View", neutral, handle, "*"),

	// Arrays on two sides.
	functions(bufslab+"unified", acquire, handle, "Acquire", "AcquirePinned", "AcquireContext", "AcquirePinnedContext"),
	functions(bufslab+"unified", lend, handle, "With"),
	methods(bufslab+"unified", "Ref", acquire, handle, "Get"),
	methods(bufslab+"unified", "Buffer", release, handle, "Release", "Free"),
	methods(bufslab+"unified", "Buffer", show, handle, "Host*", "Device*", "View"),
	methods(bufslab+"unified", "Buffer", use, handle, "Copy*", "ToSlice", "Fill", "Zero", "Sync*", "Mark*", "UsedOn"),
	methods(bufslab+"unified", "Buffer", neutral, handle, "*"),

	// Pools of objects.
	methods("sync", "Pool", acquire, pooled, "Get"),
	argument(1, methods("sync", "Pool", release, pooled, "Put")),
	functions(valyala, acquire, pooled, "Get"),
	functions(valyala, release, pooled, "Put"),
	methods(valyala, "Pool", acquire, pooled, "Get"),
	argument(1, methods(valyala, "Pool", release, pooled, "Put")),
	methods(valyala, "ByteBuffer", show, pooled, "Bytes"),
	methods("bytes", "Buffer", show, pooled, "Bytes", "AvailableBuffer"),
	methods(grpcMem, "BufferPool", acquire, pooled, "Get"),
	argument(1, methods(grpcMem, "BufferPool", release, pooled, "Put")),
	methods(thanos, "*", acquire, pooled, "Get"),
	argument(1, methods(thanos, "*", release, pooled, "Put")),
	methods(proxies, "BufferPool", acquire, pooled, "Get"),
	argument(1, methods(proxies, "BufferPool", release, pooled, "Put")),

	// Memory with a count of references.
	functions(grpcMem, acquire, refcount, "NewBuffer", "Copy", "ReadAll"),
	methods(grpcMem, "BufferSlice", acquire, refcount, "MaterializeToBuffer"),
	methods(grpcMem, "Buffer*", release, refcount, "Free"),
	methods(grpcMem, "Buffer*", retain, refcount, "Ref"),
	methods(grpcMem, "Buffer", show, refcount, "ReadOnlyData"),
	methods(grpcMem, "Buffer*", use, refcount, "*"),
	arrow(),
)

// writers are the methods of a buffer that is written to. Release empties it.
func writers(pkg string) []rule {
	return concat(
		methods(pkg, "Buffer", release, writer, "Release"),
		methods(pkg, "Buffer", reset, writer, "Reset"),
		methods(pkg, "Buffer", show, writer, "Bytes", "Segments", "AvailableBuffer"),
		methods(pkg, "Buffer", detach, handle, "Detach"),
		methods(pkg, "Buffer", neutral, writer, "*"),
	)
}

// arenas are the methods of an arena. Release and Reset free all pieces.
func arenas(pkg string) []rule {
	return concat(
		methods(pkg, "Arena", release, pieces, "Release"),
		methods(pkg, "Arena", reset, pieces, "Reset"),
		methods(pkg, "Arena", show, pieces, "Get"),
		methods(pkg, "Arena", neutral, pieces, "*"),
	)
}

// arrow are the functions of Arrow: what it makes has one reference.
func arrow() (all []rule) {
	for _, pkg := range arrows {
		all = concat(all,
			methods(pkg, "*", release, refcount, "Release"),
			methods(pkg, "*", retain, refcount, "Retain"),
			functions(pkg, neutral, refcount, "*WithoutOwning"),
			functions(pkg, acquire, refcount, "New*", "Make*", "Concatenate"),
			methods(pkg, "*", acquire, refcount, "New*"),
			methods(pkg, "Buffer", show, refcount, "Bytes", "Buf"),
			methods(pkg, "*", show, refcount, "*Values", "ValueBytes"),
			methods(pkg, "*", use, refcount, "*"),
		)
	}
	return all
}

func functions(pkg string, o op, k *kind, names ...string) []rule {
	return methods(pkg, "", o, k, names...)
}

func methods(pkg, recv string, o op, k *kind, names ...string) (all []rule) {
	for _, name := range names {
		all = append(all, rule{pkg: pkg, recv: recv, name: name, op: o, kind: k})
	}
	return all
}

// argument says that rules are about another argument than the first.
func argument(n int, all []rule) []rule {
	for i := range all {
		all[i].arg = n
	}
	return all
}

func concat(lists ...[]rule) (all []rule) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}
