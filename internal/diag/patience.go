package diag

import "context"

// Patience lets work that is one long computation be ended from outside: planning fifty thousand
// conditions, say, which has no natural places to ask. The zero value waits for ever.
type Patience struct {
	Done  <-chan struct{} // of a context
	ticks uint32
}

// Tick is called once per small piece of work. Soon after Done is closed it panics with the error of a canceled
// statement, which Recover at the door of the stage returns.
func (p *Patience) Tick() {
	if p.ticks++; p.ticks%64 == 0 {
		p.Ask()
	}
}

// Ask is Tick for a larger piece of work.
func (p *Patience) Ask() {
	select {
	case <-p.Done:
		panic(CanceledBy(context.Canceled))
	default:
	}
}
