package main

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Changes that no list has: one token of a package gives way to another, drawn at random. All tests of the
// package run on it. If it lives, no test beside the line minds it, or it changes nothing. lives.txt has
// those that were judged, each with the reason.

// A change is one token.
type change struct {
	file     string // from the top of the repository
	line     int
	off      int // bytes from the beginning of the file
	old, new string
	text     string // the line, without the blanks around it
	reason   string // why it may live, where its place says that
}

// String is how lives.txt has it, before the reason. Lines move, so it has the text of the line.
func (c change) String() string {
	return fmt.Sprintf("%s: %s: %s to %s", c.file, c.text, c.old, c.new)
}

// swaps are the tokens that give way, each to one that compiles in most of its places.
var swaps = map[token.Token]string{
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.EQL: "!=", token.NEQ: "==",
	token.ADD: "-", token.SUB: "+", token.MUL: "+", token.QUO: "*", token.REM: "/", token.SHL: ">>",
	token.SHR: "<<", token.LAND: "||", token.LOR: "&&", token.AND: "|", token.OR: "&", token.INC: "--",
	token.DEC: "++", token.ADD_ASSIGN: "-=", token.SUB_ASSIGN: "+=", token.NOT: "", token.BREAK: "continue",
}

// changesOf returns the changes that a file offers.
func changesOf(file string) ([]change, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, file, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(src), "\n")
	var all []change
	beside := map[token.Pos]bool{}
	add := func(at token.Pos, old, to string) {
		p := files.Position(at)
		text := strings.TrimSpace(lines[p.Line-1])
		c := change{file: file, line: p.Line, off: p.Offset, old: old, new: to, text: text}
		if beside[at] {
			c.reason = "a value beside an error means nothing"
		}
		all = append(all, c)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		besideError(beside, n)
		offerNode(add, n)
		imports, ok := n.(*ast.GenDecl)
		return !ok || imports.Tok != token.IMPORT
	})
	return all, nil
}

// offerNode offers the changes of a node, without those of the nodes in it.
func offerNode(add func(token.Pos, string, string), n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		offer(add, n.OpPos, n.Op)
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			offer(add, n.OpPos, n.Op)
		}
	case *ast.IncDecStmt:
		offer(add, n.TokPos, n.Tok)
	case *ast.AssignStmt:
		offer(add, n.TokPos, n.Tok)
	case *ast.BranchStmt:
		if n.Label == nil {
			offer(add, n.TokPos, n.Tok)
		}
	case *ast.BasicLit:
		if v, err := strconv.Atoi(n.Value); n.Kind == token.INT && err == nil {
			add(n.ValuePos, n.Value, strconv.Itoa(v+1))
		}
	case *ast.Ident:
		if to, is := map[string]string{"true": "false", "false": "true"}[n.Name]; is {
			add(n.NamePos, n.Name, to)
		}
	}
}

// besideError notes where the numbers and the truths are that a return has beside an error that it makes. Beside one
// that it was given, which may be nil, they count.
func besideError(beside map[token.Pos]bool, n ast.Node) {
	ret, ok := n.(*ast.ReturnStmt)
	if !ok || len(ret.Results) < 2 {
		return
	}
	last := len(ret.Results) - 1
	var text strings.Builder
	err := printer.Fprint(&text, token.NewFileSet(), ret.Results[last])
	if err != nil || !errorText.MatchString(text.String()) {
		return
	}
	for _, value := range ret.Results[:last] {
		beside[value.Pos()] = true
	}
}

// errorText is how expressions begin that are an error, and never nil.
var errorText = regexp.MustCompile(`^(fmt\.Errorf\(|errors\.(New|Join)\(|&\w*Error\{|(\w+\.)?Err[A-Z]\w*$)`)

func offer(add func(token.Pos, string, string), at token.Pos, t token.Token) {
	if to, is := swaps[t]; is {
		add(at, t.String(), to)
	}
}

// random tries n changes of packages, and reports whether none lives without a reason.
func random(n int, draw uint64, args []string, jobs int) (bool, error) {
	begin := time.Now()
	all, err := offered(args)
	if err != nil {
		return false, err
	}
	r := rand.New(rand.NewPCG(draw, 0))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	n = min(n, len(all))
	reasons := judged(livesText)
	count := map[fate]int{}
	var mu sync.Mutex
	each(all[:n], jobs, func(c change) {
		f, why := c.try()
		if f == lives && (c.reason != "" || reasons[c.String()] != "") {
			f = judgedSo
		}
		mu.Lock()
		defer mu.Unlock()
		count[f]++
		if f == lives || f == hangs || f == unfit {
			fmt.Printf("%-6s %s (line %d): %s\n", f, c, c.line, why)
		}
	})
	fmt.Printf("seed %d: %d changes of %d: %d killed, %d hang, %d do not compile, %d live with a reason, %d without; %v\n",
		draw, n, len(all), count[killed], count[hangs], count[broken], count[judgedSo], count[lives],
		time.Since(begin).Round(time.Second))
	return count[lives]+count[unfit] == 0, nil
}

// judgedSo is the fate of a change that lives with a reason.
const judgedSo fate = "judged"

// offered returns the changes that packages offer, in the order of their names.
func offered(args []string) (all []change, err error) {
	pkgs, err := packages(args)
	if err != nil {
		return nil, err
	}
	for _, pkg := range slices.Sorted(maps.Keys(pkgs)) {
		for _, name := range pkgs[pkg] {
			more, err := changesOf(path.Join(pkg, name))
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		}
	}
	return all, nil
}

// try runs the tests of the package on a change. If it lives in an internal package, the tests of the package that
// has it run, too.
func (c change) try() (fate, string) {
	src, err := os.ReadFile(c.file)
	if err != nil {
		return unfit, err.Error()
	}
	text, pkg := slices.Replace(src, c.off, c.off+len(c.old), []byte(c.new)...), path.Dir(c.file)
	f, why := tests{pkg: pkg}.tryOn(c.file, text)
	if around, _, is := strings.Cut(pkg, "/internal/"); is && f == lives && hasTests(around) {
		f, why = tests{pkg: around}.tryOn(c.file, text)
	}
	return f, why
}

// hasTests reports whether a folder has tests of Go.
func hasTests(dir string) bool {
	found, err := filepath.Glob(dir + "/*_test.go")
	return err == nil && len(found) > 0
}

//go:embed lives.txt
var livesText string

// judged reads the changes that live with a reason: a line each, the reason behind the last " | ".
func judged(text string) map[string]string {
	reasons := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if at := strings.LastIndex(line, " | "); at >= 0 { // the change may have one, too
			reasons[line[:at]] = line[at+len(" | "):]
		}
	}
	return reasons
}
