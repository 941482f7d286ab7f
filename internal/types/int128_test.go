package types

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// someInts mixes edge values with random ones of all magnitudes.
func someInts(n int) []Int128 {
	xs := []Int128{{}, {1, 0}, FromInt64(-1), FromInt64(math.MaxInt64), FromInt64(math.MinInt64),
		{math.MaxUint64, 0}, {0, 1}, {math.MaxUint64, math.MaxInt64}, {0, math.MinInt64}, {1, math.MinInt64}}
	for i := 0; i <= MaxPrecision; i++ {
		xs = append(xs, Pow10(i), Pow10(i).Neg(), Pow10(i).Sub(Int128{Lo: 1}))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for len(xs) < n {
		x := Int128{r.Uint64(), int64(r.Uint64())}
		s := r.UintN(128) // shift right arithmetically
		if s >= 64 {
			x = Int128{uint64(x.Hi >> (s - 64)), x.Hi >> 63}
		} else if s > 0 {
			x = Int128{x.Lo>>s | uint64(x.Hi)<<(64-s), x.Hi >> s}
		}
		xs = append(xs, x)
	}
	return xs
}

// TestInt128 compares every operation with big integers.
func TestInt128(t *testing.T) {
	xs := someInts(400)
	two128 := new(big.Int).Lsh(big.NewInt(1), 128)
	two127 := new(big.Int).Lsh(big.NewInt(1), 127)
	fits := func(b *big.Int) bool {
		return b.Cmp(two127) < 0 && b.Cmp(new(big.Int).Neg(two127)) >= 0
	}
	wrap := func(b *big.Int) Int128 {
		m := new(big.Int).Mod(b, two128)
		if m.Cmp(two127) >= 0 {
			m.Sub(m, two128)
		}
		x, ok := Int128FromBig(m)
		if !ok {
			t.Fatalf("wrap %v", b)
		}
		return x
	}
	for _, x := range xs {
		bx := x.ToBig()
		if back, ok := Int128FromBig(bx); !ok || back != x {
			t.Fatalf("%v → big → %v", x, back)
		}
		if x.String() != bx.String() {
			t.Fatalf("String: %s, want %s", x, bx)
		}
		if x.Sign() != bx.Sign() || x.FitsInt64() != bx.IsInt64() {
			t.Fatalf("Sign or FitsInt64 of %v", x)
		}
		if want, _ := new(big.Float).SetInt(bx).Float64(); x.Float64() != want {
			t.Fatalf("Float64(%v) = %v, want %v", x, x.Float64(), want)
		}
		if f := x.Float64(); math.Abs(f) < 0x1p127 {
			want, _ := new(big.Float).SetFloat64(f).Int(nil)
			if got, ok := Int128FromFloat(f); !ok || got.ToBig().Cmp(want) != 0 {
				t.Fatalf("Int128FromFloat(%v) = %v, %v", f, got, ok)
			}
		}
		for _, y := range xs {
			by := y.ToBig()
			if x.Cmp(y) != bx.Cmp(by) {
				t.Fatalf("Cmp(%v, %v)", x, y)
			}
			sum := new(big.Int).Add(bx, by)
			if got, ok := x.AddOK(y); got != wrap(sum) || ok != fits(sum) {
				t.Fatalf("%v + %v = %v, %v", x, y, got, ok)
			}
			diff := new(big.Int).Sub(bx, by)
			if got, ok := x.SubOK(y); got != wrap(diff) || ok != fits(diff) {
				t.Fatalf("%v - %v = %v, %v", x, y, got, ok)
			}
			prod := new(big.Int).Mul(bx, by)
			if got, ok := x.Mul(y); ok != fits(prod) || ok && got != wrap(prod) {
				t.Fatalf("%v * %v = %v, %v", x, y, got, ok)
			}
			if y.Sign() == 0 {
				continue
			}
			q, r := new(big.Int).QuoRem(bx, by, new(big.Int))
			gq, gr := x.DivRem(y)
			if gq != wrap(q) || gr != wrap(r) {
				t.Fatalf("%v / %v = %v rest %v, want %v rest %v", x, y, gq, gr, q, r)
			}
			if y.Hi == 0 {
				gq, r64 := x.DivRem64(y.Lo)
				if gq != wrap(q) || new(big.Int).SetUint64(r64).CmpAbs(r) != 0 {
					t.Fatalf("%v / %d = %v rest %v", x, y.Lo, gq, r64)
				}
			}
		}
	}
	if _, ok := Int128FromFloat(0x1p127); ok {
		t.Error("2^127 fits")
	}
	if x, ok := Int128FromFloat(-0x1p127); !ok || x != (Int128{0, math.MinInt64}) {
		t.Error("-2^127 does not fit")
	}
	if _, ok := Int128FromFloat(math.NaN()); ok {
		t.Error("NaN fits")
	}
}

func TestPow10(t *testing.T) {
	want := big.NewInt(1)
	for i := 0; i <= MaxPrecision; i++ {
		if Pow10(i).ToBig().Cmp(want) != 0 {
			t.Errorf("10^%d = %v", i, Pow10(i))
		}
		want.Mul(want, big.NewInt(10))
	}
}

// TestMulDiv compares with big fractions.
func TestMulDiv(t *testing.T) {
	xs := someInts(120)
	limit := Pow10(MaxPrecision).ToBig()
	for _, x := range xs {
		for _, y := range xs {
			for i, d := range xs {
				if d == (Int128{}) || d.Hi == math.MinInt64 || x.Hi == math.MinInt64 || y.Hi == math.MinInt64 || i%11 != 0 {
					continue
				}
				n := new(big.Int).Mul(x.ToBig(), y.ToBig())
				want := roundHalf(n, d.ToBig())
				got, ok := MulDiv(x, y, d)
				fits := want.CmpAbs(limit) < 0
				if ok != fits || ok && got.ToBig().Cmp(want) != 0 {
					t.Fatalf("%v * %v / %v = %v, %t; want %v", x, y, d, got, ok, want)
				}
			}
		}
	}
}

// roundHalf is n/d, rounded half away from zero.
func roundHalf(n, d *big.Int) *big.Int {
	twice := new(big.Int).Lsh(new(big.Int).Abs(n), 1)
	abs := new(big.Int).Abs(d)
	q := twice.Add(twice, abs)
	q.Quo(q, abs.Lsh(abs, 1))
	if n.Sign()*d.Sign() < 0 {
		q.Neg(q)
	}
	return q
}
