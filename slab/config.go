package slab

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/optline"
)

// Config chooses and tunes the stack behind a [Pool]. Its zero value works:
// a sizeclass pool on the Go heap.
type Config struct {
	Device   string // see device.Open; "" is heap
	Strategy string // one of Strategies; "" is sizeclass on heap, slab elsewhere

	Bits       int     // bitlog: bits kept below the leading one; 0 is 4, -1 keeps none
	Steps      int     // sizeclass: classes a doubling, a power of two; 0 is 4
	Align      int     // alignment of blocks in bytes, a power of two; 0 is 16, of sizeclass 64 from 64 bytes up, or what the device needs; slab has 64 at least above 256 bytes
	MissTarget float64 // bestfit, slab, plan: share of allocations that may go upstream; 0 is 0.01
	Decommit   bool    // bestfit, slab: before a new peak give small free extents back, too: less memory, more calls

	Plan string // plan: file of bufslab plan, which is read when the pool is opened; "" is none

	// bestfit, slab, plan: what to take when the pool is opened, a size or learned:FILE; "" is
	// none. It is held, goes back as all held memory does, and does not come again. Open fails
	// without room for a size. With learned:FILE it is the peak in FILE and a hundredth more, at most
	// what max_bytes and max_held allow, and nothing where there is no room; Close writes the new
	// peak to FILE.
	Reserve string

	MaxBytes      int64 // hard budget of managed bytes; 0 is none
	MaxHeld       int64 // bytes kept for reuse at most, up to a quarter of them in caches; 0 is no limit, -1 keeps nothing
	MaxHeldBlocks int   // exact, bitlog: blocks kept for reuse at most; 0 is no limit (exact: 100), -1 keeps nothing, with sizeclass too
	MaxBlockBytes int64 // larger blocks are never kept; 0 is no limit (exact: 1 GiB)
	CacheBytes    int64 // per-processor caches, bytes a processor at most; 0 is the strategy's default, -1 turns them off

	TrimAfter time.Duration // held memory idle for so long goes back; 0 is never
	Idle      time.Duration // a pool without a Get or Release for so long gives back all it holds; 0 is 10 s on heap and never elsewhere, -1 is never
	Name      string        // of the pool, up to 200 bytes of printable characters; "" is the line: see Pool.Name
	OnForget  string        // return, free or report; "" is return

	// Run the collector when the bytes of watched blocks off the heap exceed twice
	// those after the last collection plus this; 0 in text is off. Here -1 is off and
	// 0 is 64 MiB. Blocks of more than 4 KiB, and all of device memory, are watched: see docs/leaks.md.
	GCTrigger int64

	Zero   bool // blocks are cleared when handed out
	Strict bool // a second Release panics; call sites are kept
	Check  bool // canaries, poison and call sites; turns caches off

	// With n, about one buffer in n is withheld after its Release until nothing can reach its memory,
	// and a use of it meanwhile is a *GuardError. 0 is none. See docs/leaks.md.
	Guard int

	Statistics bool // count Gets and Releases in scopes, see Pool.Push: under a lock, also what caches serve

	Record       string // trace file to write; gzip if it ends in .gz
	RecordLast   int    // remember so many events, for Pool.WriteRecord, and write the file at Close; 0 writes all as they come
	RecordSample int    // record one Get in so many, chosen at random, with its Release; 0 is 1
	RecordSites  bool   // record where each Get was called

	ProfileRate int64 // bytes of Gets between two samples of Pool.WriteProfile, on average; 512 KiB is a good one; 0 takes none

	// Text has no keys for these: ParseConfig leaves them nil, String and MarshalJSON leave
	// them out, UnmarshalJSON leaves them as they are.
	Hooks  *Hooks       // functions to call when something happens; nil is none
	Logger *slog.Logger // for warnings and errors; nil is slog.Default, asked each time

	traits traits // of the device, once it is open
}

// ParseConfig reads a configuration from text, which is a line
//
//	device=mmap,strategy=slab,max_bytes=4GiB,trim_after=30s
//
// or, if it begins with a brace, a JSON object with the same keys whose values
// are strings, numbers or booleans. Keys are the fields of [Config] in lower
// case with underscores; [Config.Explain] lists those in effect. In a line a
// part without = belongs to the value before it, as in
// device=virtual:fixed,64MiB. [device.ParseSize] reads sizes,
// [time.ParseDuration] reads durations, and a miss_target is 0.01 or 1%.
//
// An omitted key takes its default. cache_bytes=0, max_held=0,
// max_held_blocks=0 and gc_trigger=0 turn these off, which is -1 in the Config, as is
// bits=0.
// reserve, max_bytes, max_held, max_held_blocks, max_block_bytes, guard, profile_rate and
// trim_after take none
// for no limit, and idle takes keep. Any other explicit zero is validated like every value.
//
// Nothing is ignored. One *[ConfigError] names every unknown or repeated key,
// every option that the strategy cannot use and every value out of range; the
// Config is zero then. Empty text gives the zero Config.
func ParseConfig(text string) (Config, error) {
	c, faults := options.Parse(text)
	return c, configError(faults)
}

// ConfigFromEnv reads the environment variable BUFSLAB_CONF as [ParseConfig]
// does. Unset or empty gives the zero Config.
func ConfigFromEnv() (Config, error) {
	c, err := ParseConfig(os.Getenv("BUFSLAB_CONF"))
	if err != nil {
		err = fmt.Errorf("BUFSLAB_CONF: %w", err)
	}
	return c, err
}

// UnmarshalJSON reads an object as [ParseConfig] does and replaces all of c,
// but Hooks and Logger, or nothing if there is an error.
func (c *Config) UnmarshalJSON(text []byte) error {
	parsed, faults := options.ParseJSON(text)
	if len(faults) == 0 {
		parsed.Hooks, parsed.Logger = c.Hooks, c.Logger
		*c = parsed
	}
	return configError(faults)
}

// MarshalJSON returns the object that [ParseConfig] reads back to c, with the
// keys that are not zero.
func (c Config) MarshalJSON() ([]byte, error) { return options.JSON(c), nil }

// String returns the line that [ParseConfig] reads back to c: every key that
// is not zero, in a fixed order. If a file or device name has commas or spaces
// that a line cannot hold, String returns the JSON object instead.
func (c Config) String() string { return options.Line(c) }

// Explain returns a line for every key that is in effect with its value and
// where that comes from, in columns. Keys that the strategy or device has no
// use for are left out. What only the opened device can tell is in
// [Pool.Explain].
func (c Config) Explain() string {
	text := options.Explain(c)
	if warning := c.traits.warning(); warning != "" {
		text += "warning: " + warning + "\n"
	}
	return text
}

// Explain explains the pool's Config as [Config.Explain] does, with what the
// opened device has told: the alignment that it needs, and a warning if it is
// deferred (see [device.Traits]).
func (p *Pool) Explain() string { return p.opened().config.given.Explain() }

// Validate returns a *[ConfigError] that names every value out of range and
// every option that the strategy or device cannot use, or nil. Whether the
// device exists is only known when it is opened. [Open] calls Validate.
func (c Config) Validate() error { return configError(options.Faults(c)) }

// A ConfigError names everything that is wrong with a configuration at once.
type ConfigError struct {
	// Faults are sentences of the form "key=value: what is wrong with it".
	Faults []string
}

func (e *ConfigError) Error() string {
	if len(e.Faults) == 1 {
		return "slab: config: " + e.Faults[0]
	}
	return fmt.Sprintf("slab: config: %d faults: %s", len(e.Faults), strings.Join(e.Faults, "; "))
}

// configError returns nil if there are no faults.
func configError(faults []string) error {
	if len(faults) == 0 {
		return nil
	}
	return &ConfigError{Faults: faults}
}

// withDefaults fills in every default, so that strategies and pool see values
// only. A zero that is left means none, for Align the strategy's own alignment.
func (c Config) withDefaults() Config { return options.WithDefaults(c) }

// forStrategy is withDefaults for a strategy that is made without a pool. It
// ignores the strategy that c names, and raises Align to what the device needs.
func (c Config) forStrategy(name string, upstream Allocator) Config {
	c.Strategy, c.traits = name, traitsOf(deviceOf(upstream))
	if c.Align > 0 {
		c.Align = max(c.Align, c.traits.Align)
	}
	return c.withDefaults()
}

// settings are a Config with its defaults filled in, and as it was given.
type settings struct {
	Config
	given       Config
	on          Allocator     // what the pool was opened on
	device      device.Device // that Close closes, or nil
	processors  int           // of a replay; 0: those of the machine
	needsFinish bool          // Get has more to do than to hand out
}

func (s *settings) closeDevice() error {
	if s.device == nil {
		return nil
	}
	return s.device.Close()
}

// Name returns Config.Name, and where that is empty the line of the Config, with the device
// that the pool was opened on. It is in the pool's errors and logs, and the label of its
// metrics: give each pool of a program a name where two have the same line.
func (p *Pool) Name() string { return p.opened().config.Name }

// nameOr returns the name of a pool that is opened as c says; full is c with its defaults.
func (c Config) nameOr(full Config) string {
	return cmp.Or(c.Name, c.String(), "strategy="+full.Strategy)
}

// mostName bounds the bytes of a name: it stands in each error and each metric.
const mostName = 200

// names are what every log, label and JSON object can hold on a line.
var names = optline.Range[string]{
	Want: "1 to 200 bytes of printable characters",
	Has: func(s string) bool {
		unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
		return s != "" && len(s) <= mostName && utf8.ValidString(s) && !strings.ContainsFunc(s, unprintable)
	},
}
