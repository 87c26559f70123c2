#!/bin/sh
# Makes the repository that README works on: sh docs/example/greet.sh ../greet
set -eu
git init --quiet --initial-branch=main "$1"
cd "$1"
printf 'module example.com/greet\n\ngo 1.22\n' >go.mod
cat >greet.go <<'END'
// Package greet greets.
package greet

// Hello returns a greeting.
func Hello(name string) string { return "Helo, " + name + "!" }
END
cat >greet_test.go <<'END'
package greet

import "testing"

func TestHelloIsNotEmpty(t *testing.T) {
	if Hello("Ann") == "" {
		t.Error("it says nothing")
	}
}
END
git add --all
git -c user.name=Ann -c user.email=ann@example.com commit --quiet --message "Greet"
