#!/bin/sh
# Prints the commits since the last tag, oldest first.
set -e
if tag=$(git describe --tags --abbrev=0 2>/dev/null); then
  git log --reverse --format='%s' "$tag..HEAD"
else
  git log --reverse --format='%s'
fi
