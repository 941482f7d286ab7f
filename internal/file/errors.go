package file

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// fileError words an error of the operating system as PostgreSQL does.
func fileError(doing, path string, err error) error {
	code := diag.IOError
	text := err.Error()
	var errno syscall.Errno
	switch {
	case errors.Is(err, fs.ErrNotExist):
		code, text = diag.UndefinedFile, "No such file or directory"
	case errors.Is(err, fs.ErrPermission):
		code, text = diag.InsufficientPrivilege, "Permission denied"
	case errors.Is(err, syscall.EISDIR):
		code, text = diag.WrongObjectType, "Is a directory"
	case errors.Is(err, syscall.ENOSPC):
		code, text = diag.DiskFull, "No space left on device"
	case errors.As(err, &errno):
		text = errno.Error()
	}
	return diag.Errorf(code, diag.NoPos, "could not %s file %q: %s", doing, path, text).WithCause(err)
}

// maxMessage bounds messages that quote a value: a file with one quote too many may
// well have a field of megabytes.
const maxMessage = 300

// located makes an error about a value into one that names the place.
func located(err error, format string, args ...any) error {
	where := fmt.Sprintf(format, args...)
	var e *diag.Error
	var te *types.Error
	switch {
	case errors.As(err, &e):
	case errors.As(err, &te):
		e = &diag.Error{Code: te.Code, Msg: te.Msg, Detail: te.Detail, Pos: diag.NoPos}
	default:
		return err
	}
	out := *e
	if len(out.Msg) > maxMessage {
		out.Msg = strings.ToValidUTF8(out.Msg[:maxMessage], "") + "..."
	}
	if out.Detail != "" {
		where = out.Detail + "; " + where
	}
	out.Detail = where
	return &out
}
