package tpch

import (
	"strings"
	"sync"

	"github.com/kelpiedb/kelpie/gen/internal/dbgen"
)

// The text that comments are cut from is a sequence of sentences such as "blithely final deposits sleep.".
// A sentence is a random form, made of noun and verb phrases, which are random forms of words. Writing
// 300 MiB of it is the greatest single cost of a small data set, hence the care in this file: more than
// fifty million draws, with as few branches as possible, as none of them could be predicted.

// maxSentence bounds the length of a sentence and of the writes beyond its end.
const maxSentence = 256

// word is a word with what follows it, ready to be copied in one piece of constant length.
type word struct {
	text [24]byte
	n    int
}

// lexicon is a weighted list of words.
type lexicon struct {
	total uint64
	index [512]uint8 // word number by weight, see dbgen.Dist
	words [64]word
}

func newLexicon(name, suffix string) *lexicon {
	d := dbgen.LoadDist(name)
	l := &lexicon{total: uint64(len(d.Index()))}
	if copy(l.index[:], d.Index()) < len(d.Index()) || len(d.Words) > len(l.words) {
		panic("tpch: word list " + name + " is too long")
	}
	for i, w := range d.Words {
		l.words[i].n = len(w) + len(suffix)
		if copy(l.words[i].text[:], w+suffix) < l.words[i].n {
			panic("tpch: word list " + name + " has too long a word")
		}
	}
	return l
}

// put writes the word that state selects to buf[at:] and returns where it ends.
func (l *lexicon) put(buf []byte, at int, state dbgen.Rand) int {
	w := &l.words[l.index[pick(state, l.total)&511]&63]
	*(*[24]byte)(buf[at:]) = w.text
	return at + w.n
}

// pick maps a state of the random generator to a number below n. It is dbgen's floating-point formula
// in integers: state*n / (2^31-1), rounded down, where the quotient by 2^31-1 is taken as one by 2^31
// with a carry. For n below a million both give the same, as the exact quotient is never nearer to an
// integer than 2^-31, which is more than the formula's rounding errors.
func pick(state dbgen.Rand, n uint64) uint64 {
	x := uint64(state) * n
	return (x + x>>31 + 1) >> 31
}

// language is all that sentences are made from.
type language struct {
	nouns, verbs phrases
	prepositions *lexicon
	terminators  *lexicon
	sentences    []sentence // one for each unit of weight
}

// english builds the language when it is first needed.
var english = sync.OnceValue(func() *language {
	adverbs := newLexicon("adverbs", " ")
	return &language{
		nouns: newPhrases("np", map[string]*lexicon{
			"N":  newLexicon("nouns", " "),
			"J":  newLexicon("adjectives", " "),
			"J,": newLexicon("adjectives", ", "),
			"D":  adverbs,
		}),
		verbs: newPhrases("vp", map[string]*lexicon{
			"V": newLexicon("verbs", " "),
			"X": newLexicon("auxillaries", " "),
			"D": adverbs,
		}),
		prepositions: newLexicon("prepositions", " the "),
		terminators:  newLexicon("terminators", " "),
		sentences:    newSentences(),
	}
})

// phrase is a form of a phrase: up to three words, from these lexicons.
type phrase struct {
	words [3]*lexicon
	after dbgen.Jump // over the random numbers that the phrase takes
}

// phrases is a weighted list of forms.
type phrases struct {
	total uint64
	index [128]*phrase
}

func newPhrases(name string, lexicons map[string]*lexicon) phrases {
	d := dbgen.LoadDist(name)
	ps := phrases{total: uint64(len(d.Index()))}
	nothing := new(lexicon) // has only the empty word
	all := make([]phrase, len(d.Words))
	for i, syntax := range d.Words {
		p := &all[i]
		symbols := strings.Fields(syntax)
		p.words = [3]*lexicon{nothing, nothing, nothing}
		for k, symbol := range symbols {
			p.words[k] = lexicons[symbol]
		}
		p.after = dbgen.NewJump(1 + len(symbols))
	}
	for i, k := range d.Index() {
		ps.index[i] = &all[k]
	}
	return ps
}

var (
	step2 = dbgen.NewJump(2)
	step3 = dbgen.NewJump(3)
	step4 = dbgen.NewJump(4)
)

// put writes a random phrase to buf[at:] and returns where it ends and the random state after it. It
// always writes three words, of which some may be empty, and finds their states by multiplication from
// the first, which is faster than a loop whose end the processor guesses wrong.
func (ps *phrases) put(buf []byte, at int, r dbgen.Rand) (int, dbgen.Rand) {
	p := ps.index[pick(r.Step(), ps.total)&127]
	at = p.words[0].put(buf, at, r.Jump(step2))
	at = p.words[1].put(buf, at, r.Jump(step3))
	at = p.words[2].put(buf, at, r.Jump(step4))
	return at, r.Jump(p.after)
}

// sentence is a form of a sentence. All begin with a noun phrase, have a verb phrase, and end with a
// terminator.
type sentence struct {
	about  bool // has a prepositional phrase before the verb
	object bool // has a noun phrase after the verb
	where  bool // has a prepositional phrase after the verb
}

// newSentences lists the forms, each as often as it has weight.
func newSentences() (list []sentence) {
	d := dbgen.LoadDist("grammar")
	for _, k := range d.Index() {
		list = append(list, map[string]sentence{
			"N V T":     {},
			"N V P T":   {where: true},
			"N V N T":   {object: true},
			"N P V N T": {about: true, object: true},
			"N P V P T": {about: true, where: true},
		}[d.Words[k]])
	}
	return list
}

// put writes a random sentence and a blank to buf[at:] and returns where it ends and the random state
// after it. The buffer needs room for maxSentence bytes.
func (l *language) put(buf []byte, at int, r dbgen.Rand) (int, dbgen.Rand) {
	r = r.Step()
	form := l.sentences[pick(r, uint64(len(l.sentences)))]
	at, r = l.nouns.put(buf, at, r)
	if form.about {
		r = r.Step()
		at = l.prepositions.put(buf, at, r)
		at, r = l.nouns.put(buf, at, r)
	}
	at, r = l.verbs.put(buf, at, r)
	if form.where {
		r = r.Step()
		at = l.prepositions.put(buf, at, r)
	}
	if form.where || form.object {
		at, r = l.nouns.put(buf, at, r)
	}
	r = r.Step()
	at = l.terminators.put(buf, at-1, r) // in place of the last word's blank
	return at, r
}
