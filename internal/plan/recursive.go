package plan

// Recursive is WITH RECURSIVE: the rows of Init, and then, round by round, those of Step, in which a WorkScan stands for the rows
// that the round before has added. It ends with a round that adds none. Columns are named as in SetOp.
type Recursive struct {
	Props_ Props
	Name   string
	Number int // by which WorkScan refers to it
	Init   Node
	Step   Node
	InCols [2][]ColID // of Init and Step
	Cols   []ColID
	// Distinct: rows that were there before are not added again. NULLs are equal.
	Distinct bool
}

// WorkScan reads the rows of the last round of a Recursive.
type WorkScan struct {
	Props_  Props
	Name    string
	Number  int
	Cols    []ColID // produced columns …
	Ordinal []int   // … and which of the Recursive's each is
}

func (n *Recursive) Props() *Props { return &n.Props_ }
func (n *WorkScan) Props() *Props  { return &n.Props_ }

func (n *Recursive) Inputs() []Node { return []Node{n.Init, n.Step} }
func (n *WorkScan) Inputs() []Node  { return nil }

func (n *WorkScan) SetInput(int, Node) {}
func (n *Recursive) SetInput(i int, m Node) {
	if i == 0 {
		n.Init = m
	} else {
		n.Step = m
	}
}

func (n *Recursive) Produces(dst []ColID) []ColID { return append(dst, n.Cols...) }
func (n *WorkScan) Produces(dst []ColID) []ColID  { return append(dst, n.Cols...) }

// Works reports that a subtree reads the rows of a round.
func Works(n Node) bool {
	found := false
	WalkNode(n, func(n Node) bool {
		_, ok := n.(*WorkScan)
		found = found || ok
		return !found
	})
	return found
}
