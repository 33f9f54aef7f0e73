package bufslab

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the index of docs/decisions.md, and the anchors of its entries")

const (
	decisions            = "docs/decisions.md"
	beginIndex, endIndex = "<!-- index -->\n", "<!-- end of index -->\n"
)

// A question begins an entry: it may go over several lines, and may have an anchor.
var question = regexp.MustCompile(`(?m)^- (?:<a id="[^"]*"></a>)?\*\*([^*]+)\*\*|^##+ (.+)$`)

// The index of docs/decisions.md has each question, and each leads to its entry. With -update it is
// written.
func TestTheIndexOfDecisionsIsWhole(t *testing.T) {
	text := read(t, decisions)
	head, rest, _ := strings.Cut(text, beginIndex)
	_, body, found := strings.Cut(rest, endIndex)
	if !found {
		t.Fatal("there is no place for the index")
	}
	index, body := indexed(body)
	want := head + beginIndex + "\n" + index + "\n" + endIndex + body
	if *update {
		if err := os.WriteFile(decisions, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if text != want {
		t.Error("the index is not that of the entries: go test . -run Index -update")
	}
}

// indexed returns the index of the entries of text, and text with their anchors.
func indexed(text string) (index, anchored string) {
	var list strings.Builder
	taken := map[string]bool{}
	anchored = question.ReplaceAllStringFunc(text, func(s string) string {
		m := question.FindStringSubmatch(s)
		if m[2] != "" {
			fmt.Fprintf(&list, "\n[**%s**](#%s)\n\n", m[2], headingAnchor(m[2]))
			return s
		}
		words := strings.Join(strings.Fields(m[1]), " ")
		name := anchor(words, taken)
		fmt.Fprintf(&list, "- [%s](#%s)\n", words, name)
		return `- <a id="` + name + `"></a>**` + m[1] + "**"
	})
	return strings.TrimPrefix(list.String(), "\n"), anchored
}

// anchor returns a name of the first words of a question that no other one has.
func anchor(words string, taken map[string]bool) string {
	plain := strings.Fields(notWords.ReplaceAllString(strings.ToLower(words), ""))
	name := strings.Join(plain[:min(8, len(plain))], "-")
	for n, first := 2, name; taken[name]; n++ {
		name = fmt.Sprintf("%s-%d", first, n)
	}
	taken[name] = true
	return name
}
