package file

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/parquet"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
)

// checkedPages looks at the pages of a column on their way to the library. It does not believe a dictionary
// that claims more values than it has bytes, for which the library would allocate memory; and it
// checks the texts of a dictionary, so that those that refer to it need not be checked.
type checkedPages struct {
	pqfile.PageReader
	text bool // the column has texts

	valid   bool // the dictionary's texts are UTF-8
	checked bool // the current page's values are from there
	err     error
}

func (p *checkedPages) Next() bool {
	if !p.PageReader.Next() {
		return false
	}
	page := p.Page()
	if d, ok := page.(*pqfile.DictionaryPage); ok {
		p.err = p.dictionary(d)
		return p.err == nil
	}
	e := parquet.Encoding(page.Encoding())
	p.checked = p.valid && (e == parquet.Encodings.RLEDict || e == parquet.Encodings.PlainDict)
	return true
}

// GetDictionaryPage is how the library asks for a dictionary that is not the first page.
func (p *checkedPages) GetDictionaryPage() (*pqfile.DictionaryPage, error) {
	d, err := p.PageReader.GetDictionaryPage()
	if err == nil && d != nil {
		err = p.dictionary(d)
	}
	return d, err
}

func (p *checkedPages) dictionary(d *pqfile.DictionaryPage) error {
	if int(d.NumValues()) > len(d.Data()) {
		return fmt.Errorf("a dictionary of %d bytes cannot have %d values", len(d.Data()), d.NumValues())
	}
	p.valid = p.text && validTexts(d.Data())
	return nil
}

func (p *checkedPages) Err() error {
	if p.err != nil {
		return p.err
	}
	return p.PageReader.Err()
}

// validTexts reports whether all texts of a dictionary, each after its length, are UTF-8.
func validTexts(b []byte) bool {
	for len(b) >= 4 {
		n := int(binary.LittleEndian.Uint32(b))
		if b = b[4:]; n > len(b) || !utf8.Valid(b[:n]) {
			return false
		}
		b = b[n:]
	}
	return true
}
