package purgatory

import "slices"

// arena hands out slots of a slice and takes them back, last in first out.
type arena[T any] struct {
	at   []T
	free []int32
}

func (a *arena[T]) take() int32 {
	if n := len(a.free); n > 0 {
		slot := a.free[n-1]
		a.free = a.free[:n-1]
		return slot
	}
	var none T
	a.at = append(a.at, none)
	return int32(len(a.at) - 1)
}

func (a *arena[T]) release(slot int32) { a.free = append(a.free, slot) }

func (a *arena[T]) clone() arena[T] {
	return arena[T]{slices.Clone(a.at), slices.Clone(a.free)}
}
