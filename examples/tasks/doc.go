// Package tasks tests that docs/tasks.md has the programs in the folders here, and what they print.
package tasks
