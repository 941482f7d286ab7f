package phys

import "fmt"

// Search is how a GPU looks for the words of a LIKE pattern in the texts of a column.
type Search uint8

const (
	SearchAuto Search = iota // as it pays
	SearchLane               // each lane in the text of its own row
	SearchFlat               // all lanes side by side, wherever texts begin: a kernel of its own leaves a bit for each row
)

var searchNames = []string{"auto", "lane", "flat"}

func (x Search) String() string { return searchNames[x] }

// ParseSearch finds a way by its name.
func ParseSearch(name string) (Search, error) { return parseChoice[Search](name, searchNames) }

// Searchable is what is known of a filter that could be searched for.
type Searchable struct {
	Rows   int64
	Length float64 // of a text, in bytes
	Word   int     // bytes of the pattern's first word
	Others bool    // something else drops rows of the scan, too, whose texts a lane would not read
	Shared bool    // another processor takes some of the rows
}

const (
	// searchRows is from how many rows on another launch is no matter.
	searchRows = 1 << 20
	// searchLength is how long texts are of which a lane reads so few bytes at a time that it waits more often than it needs to: two loads.
	searchLength = 32
	// searchWord is how long a word is that is rare enough for its places to be worth a list.
	searchWord = 3
)

// Choose decides whether a search is flat.
func (x Search) Choose(s Searchable) bool {
	if x != SearchAuto {
		return x == SearchFlat
	}
	return s.Rows >= searchRows && s.Length >= searchLength && s.Word >= searchWord && !s.Others && !s.Shared
}

// Searched is the filter of a scan that a flat search finds out before.
type Searched struct{ Column, Pattern string }

func (s Searched) String() string {
	return fmt.Sprintf("flat search of %s for %q", s.Column, s.Pattern)
}
