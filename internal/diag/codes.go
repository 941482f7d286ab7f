package diag

// The SQLSTATE codes that Kelpie raises. They are PostgreSQL's, because clients
// (drivers, ORMs, retry loops) branch on them.
const (
	// Class 08, 0A: connections and features.
	ConnectionDoesNotExist = "08003"
	ConnectionFailure      = "08006"
	ProtocolViolation      = "08P01"
	FeatureNotSupported    = "0A000"

	// Class 21: cardinality.
	CardinalityViolation = "21000"

	// Class 22: data exceptions.
	StringTooLong             = "22001"
	NumericOutOfRange         = "22003"
	NullNotAllowed            = "22004"
	InvalidDatetime           = "22007"
	DatetimeOverflow          = "22008"
	SubstringError            = "22011"
	DivisionByZero            = "22012"
	IntervalOverflow          = "22015"
	CharacterNotInRepertoire  = "22021"
	InvalidParameter          = "22023"
	InvalidEscapeSequence     = "22025"
	InvalidRegularExpression  = "2201B"
	InvalidLimit              = "2201W"
	InvalidOffset             = "2201X"
	InvalidEscapeCharacter    = "22019"
	InvalidTextRepresentation = "22P02"
	BadCopyFormat             = "22P04"

	// Class 23: constraints.
	NotNullViolation    = "23502"
	ForeignKeyViolation = "23503"
	UniqueViolation     = "23505"
	CheckViolation      = "23514"

	// Class 25 to 40: transactions, prepared statements, authorization, catalogs.
	ActiveTransaction          = "25001"
	ReadOnlyTransaction        = "25006"
	NoActiveTransaction        = "25P01"
	InvalidSavepoint           = "3B001"
	FailedTransaction          = "25P02"
	InvalidSQLStatementName    = "26000"
	InvalidAuthorization       = "28000"
	InvalidPassword            = "28P01"
	DependentObjectsStillExist = "2BP01"
	InvalidCursorName          = "34000"
	InvalidCatalogName         = "3D000"
	InvalidSchemaName          = "3F000"
	SerializationFailure       = "40001"

	// Class 42: syntax errors and names.
	DuplicateCursor            = "42P03"
	DuplicatePreparedStatement = "42P05"
	InsufficientPrivilege      = "42501"
	SyntaxError                = "42601"
	InvalidName                = "42602"
	NameTooLong                = "42622"
	DuplicateColumn            = "42701"
	AmbiguousColumn            = "42702"
	UndefinedColumn            = "42703"
	UndefinedObject            = "42704"
	DuplicateObject            = "42710"
	DuplicateAlias             = "42712"
	AmbiguousFunction          = "42725"
	GroupingError              = "42803"
	DatatypeMismatch           = "42804"
	WrongObjectType            = "42809"
	CannotCoerce               = "42846"
	UndefinedFunction          = "42883"
	UndefinedTable             = "42P01"
	UndefinedParameter         = "42P02"
	DuplicateTable             = "42P07"
	AmbiguousParameter         = "42P08"
	InvalidColumnReference     = "42P10"
	InvalidTableDefinition     = "42P16"
	IndeterminateDatatype      = "42P18"
	InvalidRecursion           = "42P19"
	WindowingError             = "42P20"
	InvalidColumnDefinition    = "42611"

	// Class 53, 54, 55, 57, 58: resources, limits, operator action, system.
	InsufficientResources = "53000"
	DiskFull              = "53100"
	OutOfMemory           = "53200"
	TooManyConnections    = "53300"
	ProgramLimitExceeded  = "54000"
	StatementTooComplex   = "54001"
	TooManyColumns        = "54011"
	TooManyArguments      = "54023"
	ObjectInUse           = "55006"
	CantChangeParam       = "55P02"
	QueryCanceled         = "57014"
	AdminShutdown         = "57P01"
	IOError               = "58030"
	UndefinedFile         = "58P01"

	// Class XX: our own faults and damaged files.
	InternalError = "XX000"
	DataCorrupted = "XX001"
)
