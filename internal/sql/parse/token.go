package parse

import (
	"strings"

	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// kind is what the parser decides by. Unreserved words are all tIdent: where the
// grammar gives one of them a meaning, the parser compares its text.
type kind uint8

const (
	tEOF     kind = iota
	tErr          // the lexer stopped here; its error is in lexer.err
	tIdent        // an identifier or unreserved word; text is folded
	tQuoted       // "identifier"; text is the name
	tString       // text is the value
	tInt          // text is decimal digits
	tDecimal      // has a point
	tFloat        // has an exponent
	tParam        // $1: text is the number; ?: text is empty
	tOp           // an operator that has no kind of its own

	tLParen
	tRParen
	tLBracket
	tLBrace
	tRBrace
	tRBracket
	tComma
	tSemi
	tDot
	tColon
	tCast   // ::
	tArrow  // =>
	tAssign // :=
	tPlus
	tMinus
	tStar
	tSlash
	tPercent
	tCaret
	tEq
	tNe // <> or !=
	tLt
	tLe
	tGt
	tGe

	// Words that the grammar must know by kind. They are not Unreserved
	// (a test holds that against package ast).
	kwFirst
	kAll
	kAnalyze
	kAnd
	kAny
	kArray
	kAs
	kAsc
	kBetween
	kBit
	kBoth
	kCase
	kCast
	kChar
	kCharacter
	kCheck
	kCollate
	kConstraint
	kCreate
	kCross
	kCurrentCatalog
	kCurrentDate
	kCurrentRole
	kCurrentSchema
	kCurrentTime
	kCurrentTimestamp
	kCurrentUser
	kDefault
	kDeferrable
	kDesc
	kDistinct
	kElse
	kEnd
	kExcept
	kExists
	kExtract
	kFalse
	kFetch
	kFor
	kForeign
	kFrom
	kFull
	kGroup
	kGrouping
	kHaving
	kIlike
	kIn
	kInner
	kIntersect
	kInterval
	kInto
	kIs
	kIsnull
	kJoin
	kLateral
	kLeading
	kLeft
	kLike
	kLimit
	kLocaltime
	kLocaltimestamp
	kNational
	kNatural
	kNchar
	kNot
	kNotnull
	kNull
	kOffset
	kOn
	kOnly
	kOr
	kOrder
	kOuter
	kOverlay
	kPlacing
	kPosition
	kPrecision
	kPrimary
	kReferences
	kReturning
	kRight
	kRow
	kSelect
	kSessionUser
	kSimilar
	kSome
	kSubstring
	kSymmetric
	kTable
	kThen
	kTime
	kTimestamp
	kTo
	kTrailing
	kTreat
	kTrim
	kTrue
	kUnion
	kUnique
	kUser
	kUsing
	kValues
	kVariadic
	kVerbose
	kWhen
	kWhere
	kWindow
	kWith

	// kwOther and up: words that only need their class, never a case of their own.
	kwOtherReserved
	kwOtherTypeFunc
	kwOtherColName
	numKinds
)

// word is what the lexer needs of a keyword: its kind and its folded text, which
// serves any spelling without an allocation.
type word struct {
	kind kind
	text string
}

// named lists the words that have a kind of their own.
var named = map[string]kind{
	"all":               kAll,
	"analyze":           kAnalyze,
	"and":               kAnd,
	"any":               kAny,
	"array":             kArray,
	"as":                kAs,
	"asc":               kAsc,
	"between":           kBetween,
	"bit":               kBit,
	"both":              kBoth,
	"case":              kCase,
	"cast":              kCast,
	"char":              kChar,
	"character":         kCharacter,
	"check":             kCheck,
	"collate":           kCollate,
	"constraint":        kConstraint,
	"create":            kCreate,
	"cross":             kCross,
	"current_catalog":   kCurrentCatalog,
	"current_date":      kCurrentDate,
	"current_role":      kCurrentRole,
	"current_schema":    kCurrentSchema,
	"current_time":      kCurrentTime,
	"current_timestamp": kCurrentTimestamp,
	"current_user":      kCurrentUser,
	"default":           kDefault,
	"deferrable":        kDeferrable,
	"desc":              kDesc,
	"distinct":          kDistinct,
	"else":              kElse,
	"end":               kEnd,
	"except":            kExcept,
	"exists":            kExists,
	"extract":           kExtract,
	"false":             kFalse,
	"fetch":             kFetch,
	"for":               kFor,
	"foreign":           kForeign,
	"from":              kFrom,
	"full":              kFull,
	"group":             kGroup,
	"grouping":          kGrouping,
	"having":            kHaving,
	"ilike":             kIlike,
	"in":                kIn,
	"inner":             kInner,
	"intersect":         kIntersect,
	"interval":          kInterval,
	"into":              kInto,
	"is":                kIs,
	"isnull":            kIsnull,
	"join":              kJoin,
	"lateral":           kLateral,
	"leading":           kLeading,
	"left":              kLeft,
	"like":              kLike,
	"limit":             kLimit,
	"localtime":         kLocaltime,
	"localtimestamp":    kLocaltimestamp,
	"national":          kNational,
	"natural":           kNatural,
	"nchar":             kNchar,
	"not":               kNot,
	"notnull":           kNotnull,
	"null":              kNull,
	"offset":            kOffset,
	"on":                kOn,
	"only":              kOnly,
	"or":                kOr,
	"order":             kOrder,
	"outer":             kOuter,
	"overlay":           kOverlay,
	"placing":           kPlacing,
	"position":          kPosition,
	"precision":         kPrecision,
	"primary":           kPrimary,
	"references":        kReferences,
	"returning":         kReturning,
	"right":             kRight,
	"row":               kRow,
	"select":            kSelect,
	"session_user":      kSessionUser,
	"similar":           kSimilar,
	"some":              kSome,
	"substring":         kSubstring,
	"symmetric":         kSymmetric,
	"table":             kTable,
	"then":              kThen,
	"time":              kTime,
	"timestamp":         kTimestamp,
	"to":                kTo,
	"trailing":          kTrailing,
	"treat":             kTreat,
	"trim":              kTrim,
	"true":              kTrue,
	"union":             kUnion,
	"unique":            kUnique,
	"user":              kUser,
	"using":             kUsing,
	"values":            kValues,
	"variadic":          kVariadic,
	"verbose":           kVerbose,
	"when":              kWhen,
	"where":             kWhere,
	"window":            kWindow,
	"with":              kWith,
}

// words holds all words that are not Unreserved, and as tIdent some frequent ones
// that are, only for their text. classOf is the class of each keyword kind.
var words, classOf = func() (m map[string]word, c [numKinds]ast.WordClass) {
	m = make(map[string]word, 256)
	for w := range strings.FieldsSeq(`by sum count avg min max date over partition rows insert update delete set
		begin commit rollback show year month day second hour minute recursive first last nulls explain copy`) {
		m[w] = word{tIdent, w}
	}
	ast.EachKeyword(func(w string, class ast.WordClass) {
		k, ok := named[w]
		if !ok {
			k = [...]kind{ast.Reserved: kwOtherReserved, ast.TypeFunc: kwOtherTypeFunc, ast.ColName: kwOtherColName}[class]
		}
		m[w], c[k] = word{k, w}, class
	})
	return m, c
}()

// maxKeyword is the length of the longest keyword, current_timestamp.
const maxKeyword = 17

// token is one lexical element; text[pos:end] of the source is how it was written.
type token struct {
	text string
	pos  int32
	end  int32
	kind kind
}

// isName: usable as a column or table name.
func (k kind) isName() bool {
	return k == tIdent || k == tQuoted || k > kwFirst && classOf[k] == ast.ColName
}

// isLabel: usable as a name after AS or a dot: any word at all.
func (k kind) isLabel() bool { return k == tIdent || k == tQuoted || k > kwFirst }
