// Package site writes the lessons as a folder of static files that any file host can serve, under any path.
package site

import "errors"

// Write writes the site into dir, which is made where it is missing. Files of an older site are replaced.
func Write(dir string) error { return errors.New("site: not written yet") }
