package file

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Structs and maps of Arrow files, which are read value by value as lists are.

// arrowStruct is the type of a struct whose fields have names that differ.
func arrowStruct(x *arrow.StructType) (types.Type, bool) {
	members := make([]types.Member, x.NumFields())
	seen := map[string]bool{}
	for i := range members {
		f := x.Field(i)
		t, ok := arrowSQLType(f.Type)
		if !ok || !types.CanList(t) || seen[f.Name] {
			return types.Type{}, false
		}
		seen[f.Name] = true
		members[i] = types.Member{Name: f.Name, Type: t}
	}
	return types.TStruct(members), len(members) > 0
}

// arrowStructs reads structs; nil if their fields are not those of type t.
func arrowStructs(c *array.Struct, t types.Type) func(row int) (types.Value, error) {
	fields := t.Fields()
	if c.NumField() != len(fields) {
		return nil
	}
	of := make([]func(row int) (types.Value, error), len(fields))
	for i, f := range fields {
		if of[i] = arrowValues(c.Field(i), f.Type); of[i] == nil {
			return nil
		}
	}
	return func(row int) (types.Value, error) {
		vals := make([]types.Value, len(fields))
		for i, f := range fields {
			if vals[i] = types.NullOf(f.Type); c.Field(i).IsNull(row) {
				continue
			}
			var err error
			if vals[i], err = of[i](row); err != nil {
				return types.Value{}, err
			}
		}
		return types.StructValue(t, vals), nil
	}
}

// arrowMaps reads maps, in which a key must be there and be another than the others; nil if they are not of type t.
func arrowMaps(c *array.Map, t types.Type) func(row int) (types.Value, error) {
	kv := t.Fields()
	keys, items := c.Keys(), c.Items()
	key, item := arrowValues(keys, kv[0].Type), arrowValues(items, kv[1].Type)
	if key == nil || item == nil {
		return nil
	}
	return func(row int) (types.Value, error) {
		lo, hi := c.ValueOffsets(row)
		if lo < 0 || hi > int64(min(keys.Len(), items.Len())) {
			return types.Value{}, diag.Errorf(diag.DataCorrupted, diag.NoPos, "a map of the file has more entries than there are")
		}
		var ks, vs []types.Value
		for i := int(lo); i < int(hi); i++ {
			k, v := types.NullOf(kv[0].Type), types.NullOf(kv[1].Type)
			var err error
			if !keys.IsNull(i) {
				if k, err = key(i); err != nil {
					return k, err
				}
			}
			if !items.IsNull(i) {
				if v, err = item(i); err != nil {
					return v, err
				}
			}
			ks, vs = append(ks, k), append(vs, v)
		}
		return types.MapValue(t, ks, vs)
	}
}
