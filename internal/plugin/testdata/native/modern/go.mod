module example.com/go/modern
