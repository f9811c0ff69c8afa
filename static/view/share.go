package view

import "github.com/a-h/templ"

// mail opens a letter without an address: whoever runs the lab knows whom to write to.
const mail = "mailto:?subject=GroupLab&body="

// feedback is the address that boot.js appends the moment's link to.
func (d PageData) feedback() templ.SafeURL {
	if d.Feedback != "" {
		return templ.URL(d.Feedback)
	}
	return templ.SafeURL(mail)
}

// shares tells whether the page has moments that can be taken away.
func (d PageData) shares() bool { return d.Kind == PageLesson || d.Kind == PageSandbox }

// whole is the address of the page in its own form.
func (d PageData) whole() templ.SafeURL {
	if d.Lesson != nil {
		return d.link("lab/" + d.Lesson.ID)
	}
	return d.link(string(d.Kind))
}
