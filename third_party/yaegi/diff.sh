#!/bin/sh
# diff.sh shows how the interpreter in this directory differs from the version that it
# was taken from. "diff.sh check" prints nothing, and fails unless the files are that
# version with the patches applied.
set -eu

module=github.com/cogentcore/yaegi
version=v0.0.0-20260116172027-700fbf8949f3

cd "$(dirname "$0")"
here=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/published" "$work/patched"

upstream=$(cd "$work" && go mod download -json "$module@$version" | sed -n 's/^.*"Dir": "\(.*\)".*$/\1/p')
find . -type f ! -path './patches/*' | while read -r file; do
	if [ -f "$upstream/$file" ]; then
		for dir in published patched; do
			mkdir -p "$work/$dir/$(dirname "$file")"
			cp "$upstream/$file" "$work/$dir/$file"
			chmod u+w "$work/$dir/$file"
		done
	fi
done

cd "$work"
if [ "${1:-}" = check ]; then
	for patch in "$here"/patches/*.patch; do
		(cd patched && GIT_DIR=/dev/null git apply "$patch")
	done
	diff -ru -x patches -x diff.sh -x diff_test.go -x README.md patched "$here"
else
	diff -ruN -x patches -x diff.sh -x diff_test.go -x README.md published "$here" || test $? = 1
fi
