package main

import (
	_ "embed"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"
)

//go:embed seeds.txt
var seedsText string

// A seed is a bug that a change could bring, and the test that notices it.
type seed struct {
	title    string
	file     string // from the top of the repository
	old, new string // old is in the file once
	by       tests
	fast     bool
}

// parse reads the seeds of a text like seeds.txt: parted by empty lines, behind a first part that explains.
func parse(text string) (all []seed, err error) {
	for _, part := range strings.Split(strings.TrimSpace(text), "\n\n")[1:] {
		s, err := parseSeed(strings.Split(part, "\n"))
		if err != nil {
			return nil, fmt.Errorf("seed %q: %w", s.title, err)
		}
		all = append(all, s)
	}
	return all, nil
}

func parseSeed(lines []string) (seed, error) {
	s := seed{title: lines[0]}
	var old, replacement []string
	for _, line := range lines[1:] {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "in":
			s.file = rest
		case "-":
			old = append(old, rest)
		case "+":
			replacement = append(replacement, rest)
		case "test":
			s.noticedBy(strings.Fields(rest))
		default:
			return s, fmt.Errorf("no line begins with %q", word)
		}
	}
	s.old, s.new = strings.Join(old, "\n"), strings.Join(replacement, "\n")
	if s.file == "" || s.old == "" || s.old == s.new || s.by.pkg == "" || s.by.run == "" {
		return s, fmt.Errorf("it lacks a file, a change or a test")
	}
	return s, nil
}

// noticedBy enters the words behind "test".
func (s *seed) noticedBy(words []string) {
	for i, word := range words {
		switch {
		case i == 0:
			s.by.pkg = word
		case i == 1:
			s.by.run = word
		case word == "race":
			s.by.race = true
		case word == "fast":
			s.fast = true
		}
	}
}

// mutate returns the changed text of the file, which is below root.
func (s seed) mutate(root string) ([]byte, error) {
	text, err := os.ReadFile(root + "/" + s.file)
	if err != nil {
		return nil, fmt.Errorf("seed %q: %w", s.title, err)
	}
	if n := strings.Count(string(text), s.old); n != 1 {
		return nil, fmt.Errorf("seed %q: its old text is %d times in %s, not once: write it anew, or delete the seed: %q",
			s.title, n, s.file, s.old)
	}
	return []byte(strings.Replace(string(text), s.old, s.new, 1)), nil
}

func (s seed) try() (fate, string) {
	text, err := s.mutate(".")
	if err != nil {
		return unfit, err.Error()
	}
	return s.by.tryOn(s.file, text)
}

// seeded prints what becomes of each seed that is picked, and reports whether all are noticed.
func seeded(pick string, fast bool, jobs int) (bool, error) {
	matches, err := regexp.Compile(pick)
	if err != nil {
		return false, err
	}
	all, err := parse(seedsText)
	if err != nil {
		return false, err
	}
	begin := time.Now()
	var chosen []seed
	for _, s := range all {
		if matches.MatchString(s.title) && (s.fast || !fast) {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		return false, fmt.Errorf("no seed to try has a title that %q matches", pick)
	}
	var mu sync.Mutex
	noticed := 0
	each(chosen, jobs, func(s seed) {
		f, why := s.try()
		mu.Lock()
		defer mu.Unlock()
		if f == killed {
			noticed++
		}
		fmt.Printf("%-8s  %-70s %s\n", f, s.title, why)
	})
	fmt.Printf("%d seeds of %d noticed; %v\n", noticed, len(chosen), time.Since(begin).Round(time.Second))
	return noticed == len(chosen), nil
}
