// Package report has what the commands of bench share: figures with their quartiles, and
// tables of them in the pages of this repository.
package report
