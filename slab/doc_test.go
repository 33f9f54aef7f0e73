package slab

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The comments of Pool and PooledBuffer list each method once, by its use.
func TestCommentsListEveryMethod(t *testing.T) {
	row := regexp.MustCompile(`(?m)^//\t[a-z ]{17}  ([A-Z]\w+(?:, [A-Z]\w+)*)`)
	for file, of := range map[string]reflect.Type{
		"pool.go": reflect.TypeFor[*Pool](), "buffer.go": reflect.TypeFor[PooledBuffer](),
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var listed, has []string
		for _, r := range row.FindAllStringSubmatch(string(text), -1) {
			listed = append(listed, strings.Split(r[1], ", ")...)
		}
		for i := range of.NumMethod() {
			has = append(has, of.Method(i).Name)
		}
		slices.Sort(listed)
		if !slices.Equal(listed, has) {
			t.Errorf("%s lists %v\nof %v", file, listed, has)
		}
	}
}
