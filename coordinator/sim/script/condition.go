package script

// Condition is a predicate over the world and what happened in it: clauses joined with "and", each perhaps negated.
type Condition struct{ text string }

// ParseCondition reads a condition that stands in file at line and col.
func ParseCondition(file string, line, col int, text string) (Condition, error) {
	return Condition{text}, nil
}

// Holds tells whether every clause holds now.
func (c Condition) Holds(e *Engine) bool { return false }

// Explain says which clauses hold and which do not, and what is the case instead.
func (c Condition) Explain(e *Engine) string { return "" }

// String is the condition as it was written.
func (c Condition) String() string { return c.text }
