#!/bin/sh
# The demonstration's analyst: a script. It asks once; 75 leaves all else to the
# analyst by rule.
set -eu
[ "$SIGNALBOX_STATE" = analyzing_requirements ] && ! grep -q asked_at "$SIGNALBOX_ASSIGNMENT" || exit 75
cat > "$SIGNALBOX_RESULT" <<'JSON'
{"status": "success", "confidence_score": 0.4, "summary": "A bug report without an example, and there are several repairs.", "questions": [
	"What exactly happens? Please quote the output.",
	{"question": "Where should the widgets go that do not fill a page?", "kind": "choice",
	 "options": ["on a last page of their own", "on the page before", "on no page, with a warning"],
	 "default": "on a last page of their own", "within": "3 days",
	 "reason": "page.Count drops the rest of a division: 25 widgets at 10 a page are 2 pages."},
	"How is it seen? Please list the commands."]}
JSON
