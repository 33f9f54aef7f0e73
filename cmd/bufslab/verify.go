package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/trace"
)

const verifyHelp = `bufslab verify [-most RATIO] [-procs N] [-json] LINE STATS TRACE

Holds a process against what a replay promises: it replays TRACE on LINE and compares the most bytes that
the pool managed with those in STATS, of a process that ran on LINE.

	bufslab verify 'device=mmap,strategy=slab,cache_bytes=0' stats.json program.csv.gz

	LINE         the configuration of the process, as bufslab tune has printed it. If it names no device, that
	             of TRACE is added; where TRACE does not name one that is here, device=virtual is judged
	STATS        Stats of its pool as JSON, at the end of the run: json.Marshal(pool.Stats()), or
	             the JSON of package inspect's page, of which the first pool is taken;
	             - is the standard input
	TRACE        a recording of the program, as bufslab replay takes it
	-most RATIO  the most that the process may have taken, by promised; 1.10 if it is left out
	-procs N     as of bufslab replay
	-json        one JSON object

	promised     the most bytes managed in the replay; if the process had more out at a time than the
	             program of TRACE, as much more
	the process took  the most bytes managed in it

On the Go heap the process is larger than what its pools manage: the collector lets garbage lie until the heap has
grown by GOGC. What a pool has given back is such garbage, and no longer managed.

It exits with 0 if the promise holds, with 1 if the process took more than RATIO of it or the replay fails, with 2 if
LINE or an option is wrong, with 3 if STATS or TRACE is.
`

// mostOver is what a process may have taken, by what was promised.
const mostOver = 1.10

// A verdict says what was promised and what came of it.
type verdict struct {
	Trace             string  `json:"trace"`
	Config            string  `json:"config"`
	Processors        int     `json:"processors"` // of the replay
	ReplayedBytes     int64   `json:"replayed_peak_managed_bytes"`
	ReplayedLiveBytes int64   `json:"replayed_peak_live_bytes"`
	PromisedBytes     int64   `json:"promised_peak_managed_bytes"`
	LiveBytes         int64   `json:"live_peak_managed_bytes"`
	LiveActiveBytes   int64   `json:"live_peak_active_bytes"`
	PromisedFootprint float64 `json:"promised_footprint_ratio"`
	LiveFootprint     float64 `json:"live_footprint_ratio"` // 0 where STATS has no peak of what was out
	Ratio             float64 `json:"ratio"`                // live by promised
	Most              float64 `json:"most"`
	Holds             bool    `json:"holds"`
}

func verify(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("bufslab verify", flag.ContinueOnError)
	most, asJSON, processors := flags.Float64("most", mostOver, ""), flags.Bool("json", false, ""), 0
	processorsVar(flags, &processors)
	words, code, done := parseFiles(flags, args, verifyHelp, stdout, stderr)
	if done {
		return code
	}
	setups, err := verifies(words, *most)
	if err != nil {
		return fail(stderr, exitBad, err)
	}
	stats, err := readStats(words[1])
	if err != nil {
		return fail(stderr, exitInput, err)
	}
	traces, err := load(words[2:], stderr)
	if err == nil {
		err = allocations("verify", traces)
	}
	if err != nil {
		return fail(stderr, exitInput, err)
	}
	line, assumed, err := judgedOn(words[0], traces)
	if err == nil {
		setups, err = setupsOf([]string{line}, nil)
	}
	if err != nil {
		return fail(stderr, exitBad, err)
	}
	r, err := replayOne(traces[0], shortName(words[2]), setups[0], trace.Replayer{Processors: processors})
	if err != nil {
		return fail(stderr, codeOf(err), err)
	}
	v := judged(r, stats, *most)
	if err := v.print(stdout, assumed, *asJSON); err != nil {
		return fail(stderr, exitFailed, err)
	}
	return v.exit()
}

func (v verdict) exit() int {
	if v.Holds {
		return exitOK
	}
	return exitFailed
}

// verifies checks the words of a command line.
func verifies(words []string, most float64) (setups []setup, err error) {
	if len(words) != 3 {
		return nil, errors.New("verify wants LINE, STATS and TRACE")
	}
	setups, err = setupsOf(words[:1], nil)
	err = errors.Join(err, writes(setups[0].config))
	if !(most > 0 && most <= math.MaxFloat64) { // JSON has no infinity
		err = errors.Join(err, fmt.Errorf("-most %g: want a finite number above 0", most))
	}
	return setups, err
}

// readStats reads Stats, or the first pool of those that package inspect shows.
func readStats(path string) (s slab.Stats, err error) {
	text, err := readAll(path)
	if err != nil {
		return s, err
	}
	var pools []struct {
		Stats *slab.Stats `json:"stats"`
	}
	if json.Unmarshal(text, &pools) == nil && len(pools) > 0 && pools[0].Stats != nil {
		return *pools[0].Stats, checkStats(path, *pools[0].Stats)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("%s: want the Stats of a pool as JSON: %w", path, err)
	}
	return s, checkStats(path, s)
}

func readAll(path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(path)
}

func checkStats(path string, s slab.Stats) error {
	if s.PeakManagedBytes <= 0 {
		return fmt.Errorf("%s: no peak_managed_bytes above 0: want the Stats of a pool that was used", path)
	}
	return nil
}

// judged holds Stats against a replay.
func judged(r row, s slab.Stats, most float64) verdict {
	v := verdict{Trace: r.Trace, Config: r.Config, Processors: r.Processors,
		ReplayedBytes: r.PeakManagedBytes, ReplayedLiveBytes: r.PeakLiveBytes,
		LiveBytes: s.PeakManagedBytes, LiveActiveBytes: s.PeakActiveBytes,
		PromisedFootprint: r.FootprintRatio, Most: most}
	v.PromisedBytes = r.PeakManagedBytes
	if s.PeakActiveBytes > r.PeakLiveBytes {
		v.PromisedBytes = int64(r.FootprintRatio * float64(s.PeakActiveBytes))
	}
	if s.PeakActiveBytes > 0 {
		v.LiveFootprint = float64(s.PeakManagedBytes) / float64(s.PeakActiveBytes)
	}
	v.Ratio = float64(v.LiveBytes) / float64(max(v.PromisedBytes, 1))
	v.Holds = v.Ratio <= most
	return v
}

func (v verdict) print(w io.Writer, assumed string, asJSON bool) error {
	if asJSON {
		return newJSON(w).e.Encode(v)
	}
	says := "The promise holds."
	if !v.Holds {
		says = fmt.Sprintf("The promise does not hold: at most %.2f was to be.", v.Most)
	}
	if assumed != "" {
		fmt.Fprintln(w, assumed)
	}
	_, err := fmt.Fprintf(w,
		"promised %s (footprint %.3f, %s live at most), the process took %s (footprint %.3f, %s live at most): %.3f of the promise. %s\n",
		size(v.PromisedBytes), v.PromisedFootprint, size(v.ReplayedLiveBytes), size(v.LiveBytes), v.LiveFootprint,
		size(v.LiveActiveBytes), v.Ratio, says)
	return err
}
