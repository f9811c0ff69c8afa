package view

import "github.com/a-h/templ"

// pastedParts are the parts of the page before its program has started.
func (d PageData) pastedParts() map[string]templ.Component {
	m, o := d.stage()
	o.Mode = ModePaste
	parts := map[string]templ.Component{}
	for _, p := range PasteParts(m, o, &PasteState{}) {
		parts[p.ID] = p.Component
	}
	return parts
}

// PasteWords are the title of the page and what it says of itself, for whoever searches.
func PasteWords(l Lang) (title, says string) {
	return pageWord("title.paste").In(l), pageWord("contents.paste.1").In(l) + " " + wordsOfPaste["paste.kinds"].In(l)
}
