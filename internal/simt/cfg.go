package simt

// findReconvergence sets, for every conditional branch, the instruction where
// its two sides meet again: the start of the immediate post-dominator of its
// block. len(code) stands for the end of the kernel.
//
// A guarded ret counts for nothing: the lanes that leave need not meet anyone,
// and the others go on.
func findReconvergence(code []inst) {
	n := len(code)
	blockOf, starts := findBlocks(code)
	nb := len(starts) // block nb is the end
	starts = append(starts, n)
	succ := make([][2]int, nb) // -1: none
	for b := range nb {
		last := &code[starts[b+1]-1]
		next := b + 1
		succ[b] = [2]int{next, -1}
		switch {
		case last.op == opBra:
			target := nb
			if int(last.target) < n {
				target = blockOf[last.target]
			}
			if succ[b] = [2]int{target, -1}; last.guard >= 0 {
				succ[b][1] = next
			}
		case ends(last):
			succ[b] = [2]int{nb, -1}
		}
	}
	ipdom := postDominators(succ, nb)
	for b := range nb {
		last := &code[starts[b+1]-1]
		if last.op == opBra && last.guard >= 0 {
			last.reconv = int32(n)
			if ipdom[b] >= 0 {
				last.reconv = int32(starts[ipdom[b]])
			}
		}
	}
}

// ends reports whether no lane comes past an instruction.
func ends(in *inst) bool { return in.guard < 0 && (in.op == opRet || in.op == opTrap) }

// findBlocks cuts code into basic blocks: the block of each instruction, and
// where each block starts.
func findBlocks(code []inst) (blockOf, starts []int) {
	leader := make([]bool, len(code)+1)
	leader[0] = true
	for i := range code {
		if code[i].op == opBra {
			leader[code[i].target] = true
			leader[i+1] = true
		}
		if ends(&code[i]) {
			leader[i+1] = true
		}
	}
	blockOf = make([]int, len(code))
	for i := range code {
		if leader[i] {
			starts = append(starts, i)
		}
		blockOf[i] = len(starts) - 1
	}
	return blockOf, starts
}

// postDominators is the algorithm of Cooper, Harvey and Kennedy on the reversed
// graph, rooted at the end. Blocks from which the end is not reached get -1.
func postDominators(succ [][2]int, end int) []int {
	pred := make([][]int, end+1)
	for b, ss := range succ {
		for _, s := range ss {
			if s >= 0 {
				pred[s] = append(pred[s], b)
			}
		}
	}
	order, number := postorder(pred, end)
	ipdom := make([]int, end+1)
	for i := range ipdom {
		ipdom[i] = -1
	}
	ipdom[end] = end
	for changed := true; changed; {
		changed = false
		for i := len(order) - 2; i >= 0; i-- { // the end itself is last in postorder
			b := order[i]
			best := -1
			for _, s := range succ[b] {
				if s < 0 || ipdom[s] < 0 {
					continue
				}
				if best < 0 {
					best = s
					continue
				}
				for x := s; x != best; {
					if number[x] < number[best] {
						x = ipdom[x]
					} else {
						best = ipdom[best]
					}
				}
			}
			if best != ipdom[b] {
				ipdom[b] = best
				changed = true
			}
		}
	}
	return ipdom
}

// postorder walks the graph from root without recursion, since code is input.
func postorder(next [][]int, root int) (order, number []int) {
	number = make([]int, len(next))
	for i := range number {
		number[i] = -1
	}
	seen := make([]bool, len(next))
	type frame struct{ node, edge int }
	stack := []frame{{root, 0}}
	seen[root] = true
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.edge < len(next[top.node]) {
			s := next[top.node][top.edge]
			top.edge++
			if !seen[s] {
				seen[s] = true
				stack = append(stack, frame{s, 0})
			}
			continue
		}
		number[top.node] = len(order)
		order = append(order, top.node)
		stack = stack[:len(stack)-1]
	}
	return order, number
}
