package app

import (
	"grouplab/server/web/pages"
	"grouplab/server/web/site"
)

// WriteSite writes the lessons as a folder of static files; see package site. feedback is what ParseFeedback made.
func WriteSite(dir, feedback string) error { return site.Write(dir, feedback) }

// ParseFeedback makes the start of a link of a mail address or an https address; see pages.Feedback.
func ParseFeedback(text string) (link string, err error) { return pages.Feedback(text) }
