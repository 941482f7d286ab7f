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
	// Others: something else drops rows of the scan, too, whose texts a lane would not read.
	Others bool
	// LooksUp: rows look for something in the device's memory then. A lane that searches meanwhile costs little, and a kernel before has to be waited for.
	LooksUp bool
	Shared  bool // another processor takes some of the rows
}

const (
	// searchBytes is how much text is worth a kernel of its own: an H200 saves half a millisecond for each gigabyte where the first word is common, and a fifth of one where it
	// is rare; the kernel takes the host a quarter.
	searchBytes = 1 << 29
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
	return float64(s.Rows)*s.Length >= searchBytes && s.Length >= searchLength && s.Word >= searchWord && !s.Others && !s.LooksUp && !s.Shared
}

// Searched is the filter of a scan that a flat search finds out before.
type Searched struct{ Column, Pattern string }

func (s Searched) String() string {
	return fmt.Sprintf("flat search of %s for %q", s.Column, s.Pattern)
}
