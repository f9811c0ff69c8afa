package view

// asking tells whether a lesson asks just now what comes next. The stage shows what is, then, and not how it ends: neither
// who wins the wait nor what becomes of the offsets.
func (s *stage) asking() bool { return s.o.Lesson != nil && s.o.Lesson.Gate == "asking" }
