package brokerlog

import "strings"

// rule is one known message: its words, and what stands between them. A field is written {x}, where x is:
//
//	g group   m member  o another member   i instance id   c client's reason   l client id
//	s state   r reason  t partitions or members, as text   p protocol          b broker
//	n k       numbers   x nothing of interest
//
// What follows | may be missing: a line that was cut still says what comes before.
type rule struct {
	kind   kind
	text   string
	lits   []string // lits[i] comes before field i
	must   []string // what of lits[i] has to be there
	bar    int      // from this one on words may be missing
	fields []byte
}

func compile(kind kind, text string) rule {
	r := rule{kind: kind, text: text, bar: -1}
	from := 0
	end := func(to int) {
		lit := text[from:to]
		must := lit
		if before, after, found := strings.Cut(lit, "|"); found && r.bar < 0 {
			r.bar, lit, must = len(r.lits), before+after, before
		} else if r.bar >= 0 {
			must = ""
		}
		r.lits, r.must = append(r.lits, lit), append(r.must, must)
	}
	for i := 0; i+2 < len(text); i++ {
		if text[i] == '{' && text[i+2] == '}' {
			end(i)
			r.fields = append(r.fields, text[i+1])
			i += 2
			from = i + 1
		}
	}
	end(len(text))
	if r.bar < 0 {
		r.bar = len(r.lits)
	}
	return r
}

// match reads a message that begins with the rule's words into s. It fails where a word is missing that has to be there, or a
// number is none. whole is false where words are missing at the end.
func (r *rule) match(msg string, s *saying) (ok, whole bool) {
	if !strings.HasPrefix(msg, r.lits[0]) {
		return false, false
	}
	rest := msg[len(r.lits[0]):]
	for i, f := range r.fields {
		value, after, found := r.cut(i+1, f, rest)
		if found == missing || !s.put(f, value) {
			return i >= r.bar, false
		}
		if found == cutOff {
			return true, false
		}
		rest = after
	}
	return true, true
}

// found says what of the words after a field is there: all, what has to be there, or less.
type found uint8

const (
	missing found = iota
	cutOff
	there
)

// cut ends a field where the words begin that follow it.
func (r *rule) cut(i int, field byte, rest string) (value, after string, f found) {
	lit, must := r.lits[i], r.must[i]
	if field == 'n' || field == 'k' || field == 'b' {
		value, after = leadingNumber(rest)
		switch {
		case strings.HasPrefix(after, lit):
			return value, after[len(lit):], there
		case i >= r.bar && strings.HasPrefix(after, must):
			return value, "", cutOff
		}
		return "", "", missing
	}
	if lit == "" {
		return rest, "", there
	}
	if value, after, ok := strings.Cut(rest, lit); ok {
		return value, after, there
	}
	switch {
	case i < r.bar:
		return "", "", missing
	case must == "":
		return rest, "", cutOff
	}
	if value, _, ok := strings.Cut(rest, must); ok {
		return value, "", cutOff
	}
	return "", "", missing
}

func leadingNumber(s string) (number, rest string) {
	i := 0
	if i < len(s) && s[i] == '-' {
		i++
	}
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return s[:i], s[i:]
}

// index finds rules by the first bytes of their words.
type index struct {
	byKey map[uint32][]*rule
	bloom [128]uint32 // which keys may be there
}

func newIndex(rules []rule) *index {
	x := &index{byKey: map[uint32][]*rule{}}
	for i := range rules {
		k := key(rules[i].lits[0])
		x.byKey[k] = append(x.byKey[k], &rules[i])
		h := hash(k)
		x.bloom[h>>5] |= 1 << (h & 31)
	}
	return x
}

// keyLen is how many bytes a message's words must begin with.
const keyLen = 4

func key(s string) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func hash(k uint32) uint32 { return k * 2654435761 >> 20 }

// at returns the rules that a message at the beginning of s may be.
func (x *index) at(s string) []*rule {
	if len(s) < keyLen {
		return nil
	}
	k := key(s)
	if h := hash(k); x.bloom[h>>5]&(1<<(h&31)) == 0 {
		return nil
	}
	return x.byKey[k]
}
