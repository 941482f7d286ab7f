package dbgen

import "testing"

// TestStream compares jumps over rows with single steps.
func TestStream(t *testing.T) {
	const seed, perRow = 933588178, 7
	r := Rand(seed)
	s := NewStream(seed, perRow, 0)
	for row := range int64(1000) {
		if got := s.Row(); got != r {
			t.Fatalf("row %d: state %d, want %d", row, got, r)
		}
		if there := NewStream(seed, perRow, row); there.Row() != r {
			t.Fatalf("stream at row %d does not stand there", row)
		}
		for range perRow {
			r = Rand(uint64(r) * multiplier % modulus)
		}
	}
}

// TestPeriod checks the arithmetic at the largest exponents: by Fermat's theorem modulus-1 steps lead
// back to the beginning.
func TestPeriod(t *testing.T) {
	if p := power(modulus - 1); p != 1 {
		t.Errorf("multiplier^(modulus-1) = %d", p)
	}
	for _, a := range []uint64{1, 2, multiplier, modulus - 2, modulus - 1} {
		for _, b := range []uint64{1, 2, multiplier, modulus - 2, modulus - 1} {
			if got, want := mulmod(a, b), a*b%modulus; got != want {
				t.Errorf("mulmod(%d, %d) = %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestPick(t *testing.T) {
	d := LoadDist("adverbs") // "furiously" has weight 50 of 262
	r := Rand(1)
	count := map[string]int{}
	for range 26200 {
		count[d.Words[r.Pick(d)]]++
	}
	if n := count["furiously"]; n < 4800 || n > 5200 || len(count) != len(d.Words) {
		t.Errorf("furiously was drawn %d times, expected 5000; %d words of %d", n, len(count), len(d.Words))
	}
}

func TestAppendPadded(t *testing.T) {
	for _, c := range []struct {
		x      int64
		digits int
		want   string
	}{{7, 3, "007"}, {123, 3, "123"}, {1234, 3, "1234"}, {0, 1, "0"}} {
		if got := string(AppendPadded(nil, c.x, c.digits)); got != c.want {
			t.Errorf("%d with %d digits: %s, want %s", c.x, c.digits, got, c.want)
		}
	}
}
