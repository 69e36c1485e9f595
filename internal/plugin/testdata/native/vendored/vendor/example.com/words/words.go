package words

func First[T any](list []T) T { return list[0] }
