package layout

import (
	"github.com/kelpiedb/kelpie/internal/types"
)

// Unite is what is known of a value that comes from one of two places.
func (d Desc) Unite(o Desc) Desc {
	d.Nullable = d.Nullable || o.Nullable
	if d.Form == Code && o.Form == Code && d.Dict == o.Dict {
		d.Range = d.Range.Union(o.Range)
		return d
	}
	if d.Form == Code || o.Form == Code || d.Form == Str {
		d.Form, d.Dict, d.Range = Str, nil, Range{}
		return d
	}
	d.Range = d.Range.Union(o.Range)
	return d.fit()
}

// Plus is what is known of the sum of two such values, each of which may also be missing.
func (d Desc) Plus(o Desc) Desc {
	d.Nullable = d.Nullable || o.Nullable
	d.Range = d.Range.Add(o.Range)
	if d.Type.Kind != types.Decimal { // beyond the type lies an error
		d.Range = TypeRange(d.Type).Intersect(d.Range)
	}
	return d.fit()
}

// fit takes the form that the range allows.
func (d Desc) fit() Desc {
	if d.Form != I64 && d.Form != I128 {
		return d
	}
	if !d.Range.Known {
		d.Range = TypeRange(d.Type)
	}
	d.Form = FormOf(d.Type, d.Range)
	return d
}
