package form

import (
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A decimal is a number of JSON by its exact value: ±0.DIGITS × 10^exponent. The
// digits begin and end with none that is 0; zero has none. Whoever writes 1e999999
// gets no memory for it.
type decimal struct {
	negative bool
	digits   string
	exponent int64
}

// decimalOf reads a valid number.
func decimalOf(v jsontext.Value) decimal {
	s, negative := strings.CutPrefix(string(v), "-")
	mantissa, power, _ := strings.Cut(strings.ToLower(s), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return decimal{}
	}
	zeros := len(whole) + len(fraction) - len(digits) // in front
	return decimal{negative, strings.TrimRight(digits, "0"), exponentOf(power) + int64(len(whole)-zeros)}
}

// exponentOf is at most so large that a few digits can be added.
func exponentOf(s string) int64 {
	const most = math.MaxInt64 / 4
	n, err := strconv.ParseInt(strings.TrimPrefix(s, "+"), 10, 64)
	switch {
	case s == "":
		return 0
	case err != nil && s[0] == '-':
		return -most
	case err != nil:
		return most
	}
	return max(-most, min(n, most))
}

func (d decimal) isWhole() bool { return d.exponent >= int64(len(d.digits)) }

// compare is below zero where d is the smaller one.
func (d decimal) compare(other decimal) int {
	if a, b := d.sign(), other.sign(); a != b {
		return a - b
	}
	return d.sign() * d.compareSize(other)
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}

func (d decimal) compareSize(other decimal) int {
	switch {
	case d.exponent < other.exponent:
		return -1
	case d.exponent > other.exponent:
		return 1
	}
	return strings.Compare(d.digits, other.digits)
}
