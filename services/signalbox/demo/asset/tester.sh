#!/bin/sh
# The demonstration's tester: a script. It writes a test that fails for as long
# as the issue stands.
set -eu
cat > page/partial_test.go <<'GO'
package page

import "testing"

func TestCount(t *testing.T) {
	for _, c := range []struct{ total, size, want int }{
		{0, 10, 0}, {5, 10, 1}, {10, 10, 1}, {20, 10, 2}, {25, 10, 3}, {7, 0, 0},
	} {
		if got := Count(c.total, c.size); got != c.want {
			t.Errorf("Count(%d, %d) = %d, want %d", c.total, c.size, got, c.want)
		}
	}
}

func TestEveryItemIsOnOnePage(t *testing.T) {
	items := make([]int, 25)
	seen := 0
	for n := 1; n <= Count(len(items), 10); n++ {
		seen += len(Of(items, n, 10))
	}
	if seen != len(items) {
		t.Errorf("%d of %d items are on a page", seen, len(items))
	}
}
GO
echo "test that the last, partial page is counted"
