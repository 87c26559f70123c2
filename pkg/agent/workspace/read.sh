# Reads what a program left in its work tree, in the sandbox. Standard output is all that leaves it:
#
#   reading
#   refused WHY                      the program's git directory is not read
#   left TIP TREE ASIDE, and a pack  part "files": the program's last commit, if it descends from START, else -;
#                                    stash, branch: the files are from there; stash-left: one is not taken; else -
#   commits, and a pack              part "commits": those between START and TIP
#
# Of the program's git directory it takes the references and the objects; never its configuration, its
# alternates of references, hooks, grafts, worktrees or what makes a history shallow.
set -eu
echo reading

refuse() {
	echo "refused $1"
	exit 0
}

# view makes a git directory of the program's references and objects.
view() {
	cd "$TREE"
	if [ -L .git ] || { [ -e .git ] && [ ! -d .git ]; }; then
		refuse ".git is not a directory any more"
	fi
	[ -d .git ] || return 1
	odd=$(find .git/HEAD .git/refs .git/packed-refs .git/objects ! -type f ! -type d 2>/dev/null) || true
	[ -z "$odd" ] || refuse "neither files nor directories, which git would follow or wait for: $(echo "$odd" | head -n 3 | tr '\n' ' ')"
	[ -f .git/HEAD ] && [ -d .git/refs ] && [ -d .git/objects ] || refuse ".git is no git directory any more"
	[ ! -e "$VIEW" ] || rm -rf "$VIEW"
	mkdir -p "$VIEW/objects/info"
	set -- .git/HEAD .git/refs
	[ ! -f .git/packed-refs ] || set -- "$@" .git/packed-refs
	cp -R "$@" "$VIEW"
	printf '[core]\n\trepositoryformatversion = 0\n\tbare = true\n' >"$VIEW/config"
	printf '%s\n' "$TREE/.git/objects" "$SHARED" >"$VIEW/objects/info/alternates"
}

# theirs runs git on the view.
theirs() (
	unset GIT_WORK_TREE GIT_INDEX_FILE
	export GIT_DIR="$VIEW"
	git "$@"
)

# pack writes whole objects, by git on one of the git directories: deltas are not taken outside.
pack() { "$1" -c pack.threads=1 pack-objects --revs --stdout -q --window=0 --no-reuse-delta; }

# elsewhere takes the change from the stash, or from the one branch that has commits, if the files and the
# last commit have none. It sets tip, tree, aside and from.
elsewhere() {
	stash=
	[ ! -f "$VIEW/refs/stash" ] && [ ! -f "$VIEW/packed-refs" ] || stash=$(theirs rev-parse --verify --quiet 'refs/stash^{commit}') || stash=
	if [ "$tree" != "$WAS" ] || { [ "$tip" != - ] && [ "$tip" != "$START" ]; }; then
		[ -z "$stash" ] || aside=stash-left
		return 0
	fi
	if [ -n "$stash" ]; then
		aside=stash-left
		[ "$(theirs rev-parse --verify --quiet "$stash^1" || true)" = "$START" ] || return 0
		export GIT_INDEX_FILE="$VIEW/index"
		GIT_DIR="$VIEW" git read-tree "$stash"
		if theirs rev-parse --verify --quiet "$stash^3" >/dev/null; then # the files that were not tracked
			theirs ls-tree -r -z "$stash^3" | GIT_DIR="$VIEW" git update-index -z --index-info
		fi
		tree=$(GIT_DIR="$VIEW" git write-tree)
		aside=stash
		from=theirs
		return 0
	fi
	found=
	for commit in $(theirs for-each-ref --format='%(objectname)' refs/heads); do
		if [ "$commit" != "$START" ] && [ "$commit" != "$found" ] && theirs merge-base --is-ancestor "$START" "$commit"; then
			[ -z "$found" ] || return 0 # which of them is not known
			found=$commit
		fi
	done
	[ -n "$found" ] || return 0
	tip=$found
	tree=$(theirs rev-parse "$found^{tree}")
	aside=branch
	from=theirs
}

case $1 in
files)
	tip=-
	aside=-
	from=git
	viewed=
	if view; then
		viewed=1
		code=0
		at=$(theirs rev-parse --verify --quiet 'HEAD^{commit}') || code=$?
		[ "$code" -le 1 ] || exit "$code"
		if [ "$code" = 0 ]; then
			[ "$at" = "$START" ] || theirs merge-base --is-ancestor "$START" "$at" || code=$?
			[ "$code" -le 1 ] || exit "$code"
			[ "$code" = 1 ] || tip=$at
		fi
	fi
	cd "$TREE"
	git add --all
	tree=$(git write-tree)
	[ -z "$viewed" ] || elsewhere
	echo "left $tip $tree $aside"
	if [ "$tree" = "$WAS" ]; then
		printf '' | pack "$from"
	else
		printf '%s\n^%s\n' "$tree" "$WAS" | pack "$from"
	fi
	;;
commits)
	echo commits
	printf '%s\n^%s\n' "$TIP" "$START" | pack theirs
	;;
esac
