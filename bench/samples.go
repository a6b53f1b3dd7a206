package main

import (
	"math"
	"slices"
)

// sample is a figure of one round.
type sample struct {
	round int
	value float64
}

// samples are a figure of several rounds.
type samples []sample

func (s samples) sorted() []float64 {
	values := make([]float64, len(s))
	for i := range s {
		values[i] = s[i].value
	}
	slices.Sort(values)
	return values
}

// median is NaN where there is nothing.
func (s samples) median() float64 {
	v := s.sorted()
	if len(v) == 0 {
		return math.NaN()
	}
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// spread is the least and the most.
func (s samples) spread() (least, most float64) {
	v := s.sorted()
	if len(v) == 0 {
		return math.NaN(), math.NaN()
	}
	return v[0], v[len(v)-1]
}

// combine makes one figure of two, round by round.
func combine(a, b samples, f func(a, b float64) float64) samples {
	var list samples
	for _, x := range a {
		for _, y := range b {
			if x.round == y.round {
				list = append(list, sample{x.round, f(x.value, y.value)})
			}
		}
	}
	return list
}

func ratio(a, b samples) samples {
	return combine(a, b, func(a, b float64) float64 { return a / b })
}
