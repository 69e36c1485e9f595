. ./greet.sh

check() {
	if [[ "$1" == "$2" ]]; then
		echo "ok: $2"
	else
		echo "got:  $1"
		echo "want: $2"
		exit 1
	fi
}

check "$(greet)" "Hello, world!"
check "$(greet Ada)" "Hello, Ada!"
echo "all tests passed"
