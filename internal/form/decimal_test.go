package form

import (
	"math/big"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// compareExactly compares by way of fractions, where the exponents are small enough
// for that.
func compareExactly(a, b string) (order int, ok bool) {
	for _, s := range []string{a, b} {
		if _, power, _ := strings.Cut(strings.ToLower(s), "e"); len(power) > 3 {
			return 0, false
		}
	}
	x, okX := new(big.Rat).SetString(a)
	y, okY := new(big.Rat).SetString(b)
	if !okX || !okY {
		return 0, false
	}
	return x.Cmp(y), true
}

func TestDecimal(t *testing.T) {
	numbers := []string{ // in their order
		"-1e99999999999999999999", "-1e400", "-10.5", "-10", "-1e-400", "-1e-99999999999999999999",
		"0", "1e-99999999999999999999", "1e-400", "0.1", "0.10000000000000000000000001", "1", "9007199254740992", "9007199254740993",
		"1e400", "1.5e400", "1e99999999999999999999",
	}
	for i, a := range numbers {
		for j, b := range numbers {
			got := sign(decimalOf(jsontext.Value(a)).compare(decimalOf(jsontext.Value(b))))
			if want := sign(i - j); got != want {
				t.Errorf("%s and %s compare as %d, want %d", a, b, got, want)
			}
		}
	}
	for _, equal := range [][2]string{{"1", "1.0"}, {"1", "10e-1"}, {"-0", "0e9"}, {"0.00120", "12E-4"}, {"100", "1e+2"}} {
		if decimalOf(jsontext.Value(equal[0])) != decimalOf(jsontext.Value(equal[1])) {
			t.Errorf("%s is not %s", equal[0], equal[1])
		}
	}
	for number, want := range map[string]bool{"1": true, "1.0": true, "1.5e1": true, "1.5": false, "0": true, "12e-1": false, "120e-1": true, "1e999999": true} {
		if got := decimalOf(jsontext.Value(number)).isWhole(); got != want {
			t.Errorf("%s is whole: %v, want %v", number, got, want)
		}
	}
}
