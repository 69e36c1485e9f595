greet() {
	echo "Hello, world!"
}
