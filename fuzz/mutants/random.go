package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Changes that nobody thought of: one token of a package gives way to another one, drawn at random. All
// tests of the package run on it. What lives is a line of code that no test beside it minds, or a change
// that changes nothing: lives.txt has those that were judged, with the reason.

// A change is one token.
type change struct {
	file     string // from the top of the module
	line     int
	off      int // bytes from the beginning of the file
	old, new string
	text     string // the line, without the blanks around it
}

// String is how lives.txt has it, before the reason. Lines move, so it has the text of the line.
func (c change) String() string {
	return fmt.Sprintf("%s: %s: %s to %s", c.file, c.text, c.old, c.new)
}

// swaps are the tokens that give way, each to one that compiles in most of its places.
var swaps = map[token.Token]string{
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.EQL: "!=", token.NEQ: "==",
	token.ADD: "-", token.SUB: "+", token.MUL: "+", token.QUO: "*", token.REM: "/", token.SHL: ">>", token.SHR: "<<",
	token.LAND: "||", token.LOR: "&&", token.AND: "|", token.OR: "&",
	token.INC: "--", token.DEC: "++", token.ADD_ASSIGN: "-=", token.SUB_ASSIGN: "+=", token.NOT: "", token.BREAK: "continue",
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
	add := func(at token.Pos, old, to string) {
		p := files.Position(at)
		all = append(all, change{file, p.Line, p.Offset, old, to, strings.TrimSpace(lines[p.Line-1])})
	}
	ast.Inspect(f, func(n ast.Node) bool {
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

func offer(add func(token.Pos, string, string), at token.Pos, t token.Token) {
	if to, is := swaps[t]; is {
		add(at, t.String(), to)
	}
}

// random tries n changes of packages, and reports whether none lives without a reason.
func random(n int, seed uint64, pkgs []string, jobs int) bool {
	begin := time.Now()
	all, err := offered(pkgs)
	reasons, err2 := judged("fuzz/mutants/lives.txt")
	if err != nil || err2 != nil || len(all) == 0 {
		fmt.Fprintln(os.Stderr, len(all), "changes:", err, err2)
		return false
	}
	for _, pkg := range pkgs {
		if out, err := wholly(pkg); err != nil {
			fmt.Fprintf(os.Stderr, "%s fails without a change: %s\n", pkg, firstLines(string(out), 9))
			return false
		}
	}
	r := rand.New(rand.NewPCG(seed, 0))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	count := map[fate]int{}
	results := make(chan fate)
	go each(all[:min(n, len(all))], jobs, func(c change) {
		f := c.try()
		if f == lives && reasons[c.String()] != "" {
			f = equivalent
		}
		if f == lives {
			fmt.Printf("LIVES  %s (line %d)\n", c, c.line)
		}
		results <- f
	})
	for range min(n, len(all)) {
		count[<-results]++
	}
	fmt.Printf("seed %d: %d changes of %d: %d killed, %d do not compile, %d live with a reason, %d without; %v\n", seed,
		min(n, len(all)), len(all), count[killed], count[broken], count[equivalent], count[lives], time.Since(begin).Round(time.Second))
	return count[lives] == 0
}

// offered returns the changes that packages offer, in the files of this platform.
func offered(pkgs []string) (all []change, err error) {
	for _, pkg := range pkgs {
		out, err := exec.Command("go", "list", "-f", `{{join .GoFiles "\n"}}`, "./"+pkg).Output()
		if err != nil {
			return nil, err
		}
		for _, name := range strings.Fields(string(out)) {
			more, err := changesOf(path.Join(pkg, name))
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		}
	}
	return all, nil
}

// try runs the tests of the package on a change.
func (c change) try() fate {
	src, err := os.ReadFile(c.file)
	if err != nil {
		return broken
	}
	text := slices.Replace(src, c.off, c.off+len(c.old), []byte(c.new)...)
	overlay, remove, err := overlayOf(c.file, text)
	if err != nil {
		return broken
	}
	defer remove()
	out, err := wholly(path.Dir(c.file), "-overlay="+overlay)
	switch {
	case err == nil:
		return lives
	case strings.Contains(string(out), "panic: test timed out"):
		fmt.Printf("HANGS  %s (line %d), or the machine is busy\n", c, c.line)
	case strings.Contains(string(out), "[build failed]") || strings.Contains(string(out), "[setup failed]"):
		return broken
	}
	return killed
}

// wholly runs all tests of a package.
func wholly(pkg string, flags ...string) ([]byte, error) {
	args := append([]string{"test", "-vet=off", "-count=1", "-failfast", "-timeout=5m"}, flags...)
	return exec.Command("go", append(args, "./"+pkg)...).CombinedOutput()
}

// overlayOf writes a changed file, and the file that tells the go command of it.
func overlayOf(file string, text []byte) (name string, remove func(), err error) {
	root, err := os.Getwd()
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return "", nil, err
	}
	remove = func() { os.RemoveAll(dir) }
	changed := path.Join(dir, "changed.go")
	name = path.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {path.Join(root, file): changed}})
	if err == nil {
		err = os.WriteFile(changed, text, 0o666)
	}
	if err == nil {
		err = os.WriteFile(name, replace, 0o666)
	}
	if err != nil {
		remove()
	}
	return name, remove, err
}

// judged reads the changes that live with a reason: a line each, the reason behind the last " | ".
func judged(name string) (map[string]string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	reasons := map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if at := strings.LastIndex(line, " | "); at >= 0 { // the change may have one, too
			reasons[line[:at]] = line[at+len(" | "):]
		}
	}
	return reasons, nil
}
