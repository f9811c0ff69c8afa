package view

// chapters are the lessons of the contents page, cut where a chapter begins.
func (d PageData) chapters() [][]LessonLink {
	var list [][]LessonLink
	for _, l := range d.Contents {
		if n := len(list); n > 0 && l.Chapter.En == "" {
			list[n-1] = append(list[n-1], l)
			continue
		}
		list = append(list, []LessonLink{l})
	}
	return list
}
