#!/bin/sh
# The demonstration's developer: a script. Its first attempt is the classic
# mistake, one page too many when the last one is full; told by the failing
# tests, it gets it right.
set -eu
case "$SIGNALBOX_STATE" in
implementing)
	sed 's|return total / size$|return total/size + 1|' page/page.go > page/page.go.new
	says="count the partial page" ;;
*)
	sed -e 's|return total/size + 1$|return (total + size - 1) / size|' -e 's|return total / size$|return (total + size - 1) / size|' page/page.go > page/page.go.new
	says="round up instead of adding a page" ;;
esac
mv page/page.go.new page/page.go
echo "$says"
