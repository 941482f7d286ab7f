package planjson

import (
	"fmt"
	"slices"

	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// named is a table of names of 0, 1, 2 …
func named[T ~uint8](n int, name func(T) string) map[string]T {
	out := make(map[string]T, n)
	for i := range n {
		out[name(T(i))] = T(i)
	}
	return out
}

var (
	joinKinds  = named(int(plan.Single)+1, plan.JoinKind.String)
	aggFuncs   = named(int(plan.First)+1, plan.AggFunc.String)
	winFuncs   = named(int(plan.WinAgg), plan.WinFunc.String)
	units      = named(int(plan.GroupsFrame)+1, plan.FrameUnit.String)
	boundNames = []string{"unbounded preceding", "preceding", "current row", "following", "unbounded following"}
	bounds     = named(len(boundNames), func(k plan.BoundKind) string { return boundNames[k] })
	exclusions = []string{"", "current row", "group", "ties"}
	excludes   = named(len(exclusions), func(k plan.FrameExclude) string { return exclusions[k] })
	operations = func() map[string]plan.Op {
		out := map[string]plan.Op{}
		for op := plan.OpNone + 1; op < plan.Apply; op++ {
			out[op.String()] = op
		}
		return out
	}()
)

// functions are those that Go computes, by names that tell those of one SQL name apart; names is the other way round.
var functions, functionNames = func() (map[string]*plan.Function, map[*plan.Function]string) {
	by, names := map[string]*plan.Function{}, map[*plan.Function]string{}
	add := func(name string, f *plan.Function) {
		if f == nil || names[f] != "" {
			return
		}
		full := name
		for i := 2; by[full] != nil; i++ {
			full = fmt.Sprintf("%s (%d)", name, i)
		}
		by[full], names[f] = f, full
	}
	for i := range funcs.Rows {
		r := &funcs.Rows[i]
		if r.Fn != nil {
			add(r.Signature(), r.Fn)
		}
	}
	for _, f := range []*plan.Function{funcs.SeriesLength, funcs.SeriesTime, funcs.SeriesNumber, funcs.TryCast} {
		add(f.Name, f)
	}
	for _, f := range funcs.Internal {
		add(f.Name, f)
	}
	return by, names
}()

// foldOf finds an aggregate that Go computes; nil: there is none.
func foldOf(name string, within bool) *plan.Fold {
	if !within {
		if name == funcs.FirstRow.Name {
			return funcs.FirstRow
		}
		for _, f := range funcs.InOrder {
			if f.Name == name {
				return f
			}
		}
		for _, f := range funcs.Unnamed {
			if f.Name == name {
				return f
			}
		}
	}
	if r := funcs.FindFold(name, within); r != nil && r.Within == within {
		return r.Fold
	}
	return nil
}

// windowFoldOf finds an aggregate of frames that Go computes; nil: there is none.
func windowFoldOf(name string) *plan.Fold {
	if r := funcs.FindFold(name, false); r != nil && !r.Within {
		return r.Fold
	}
	return foldOf(name, false)
}

// keysOf are the names of a table, for messages.
func keysOf[T any](m map[string]T) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
