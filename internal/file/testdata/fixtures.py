"""Writes the Parquet files of this folder, and beside each a text with its columns and rows as our tests print them.

    pip install pyarrow duckdb; python fixtures.py
"""
import datetime as dt, decimal, json
import duckdb, pyarrow as pa, pyarrow.parquet as pq

D = decimal.Decimal


def show(v):
    if v is None:
        return "NULL"
    if isinstance(v, bool):
        return str(v).lower()
    if isinstance(v, str):
        return json.dumps(v, ensure_ascii=False)
    if isinstance(v, bytes):
        return json.dumps(v.decode())
    if isinstance(v, decimal.Decimal):
        return format(v, "f")
    if isinstance(v, float):
        return repr(v).removesuffix(".0")
    if isinstance(v, dt.datetime):
        s = v.strftime("%Y-%m-%d %H:%M:%S")
        if v.microsecond:
            s += (".%06d" % v.microsecond).rstrip("0")
        return s
    return str(v)


def golden(name, columns, rows):
    with open(name + ".txt", "w") as f:
        f.write(columns + "\n")
        for r in rows:
            f.write(" ".join(show(v) for v in r) + "\n")


def column(i, f):
    return None if i % 5 == i // 5 else f(i)


N = 23
day = dt.date(1999, 12, 25)
noon = dt.datetime(1999, 12, 31, 12)
cols = [  # name, SQL type, Arrow type, value, value as we read it
    ("b", "BOOLEAN", pa.bool_(), lambda i: i % 3 == 0),
    ("i8", "TINYINT", pa.int8(), lambda i: i * 11 - 128),
    ("i16", "SMALLINT", pa.int16(), lambda i: i * 2978 - 32768),
    ("i32", "INTEGER", pa.int32(), lambda i: i * 195225786 - 2147483648),
    ("i64", "BIGINT", pa.int64(), lambda i: i * 838488366986797800 - 9223372036854775808),
    ("u8", "UTINYINT", pa.uint8(), lambda i: i * 11),
    ("u16", "USMALLINT", pa.uint16(), lambda i: i * 2978),
    ("u32", "UINTEGER", pa.uint32(), lambda i: i * 195225786),
    ("u64", "DECIMAL(20,0)", pa.uint64(), lambda i: i * 838488366986797800),
    ("f32", "REAL", pa.float32(), lambda i: i / 4 - 1),
    ("f64", "DOUBLE", pa.float64(), lambda i: i / 10 - 1),
    ("d7", "DECIMAL(7,2)", pa.decimal128(7, 2), lambda i: D(i * 454545 - 5000000).scaleb(-2)),
    ("d18", "DECIMAL(18,4)", pa.decimal128(18, 4), lambda i: D(i * 10**16 - 10**17 + 7).scaleb(-4)),
    ("d38", "DECIMAL(38,10)", pa.decimal128(38, 10), lambda i: decimal.Context(prec=50).scaleb(D(i * 4 * 10**36 - 4 * 10**37 + 3 + i), -10)),
    ("dt", "DATE", pa.date32(), lambda i: day + dt.timedelta(days=i * 1000 - 9000)),
    ("ms", "TIMESTAMP", pa.timestamp("ms"), lambda i: noon + dt.timedelta(days=i * 500, milliseconds=i)),
    ("us", "TIMESTAMP", pa.timestamp("us"), lambda i: noon - dt.timedelta(days=i * 2000, microseconds=i)),
    ("ns", "TIMESTAMP", pa.timestamp("ns"), lambda i: noon - dt.timedelta(days=i * 600, microseconds=i)),
    ("s", "VARCHAR", pa.string(), lambda i: "row %d is a fairly long string" % i if i % 2 else "ä" * (i % 4)),
    ("ls", "VARCHAR", pa.large_string(), lambda i: "x" * i),
    ("ds", "VARCHAR", pa.dictionary(pa.int32(), pa.string()), lambda i: ["RAIL", "SHIP", "AIR"][i % 3]),
    ("bin", "VARCHAR", pa.binary(), lambda i: b"bytes %d" % i),
    ("z", "INTEGER", pa.null(), lambda i: None),
]
data = [[column(i, c[3]) for i in range(N)] for c in cols]
for c in data[13]:
    assert c is None or len(c.as_tuple().digits) <= 38
rows = list(zip(*data))
sql = ", ".join(c[0] + " " + c[1] for c in cols)
table = pa.table({c[0]: pa.array(v, c[2]) for c, v in zip(cols, data)})

pq.write_table(table, "pyarrow.parquet", row_group_size=9, version="2.6", store_schema=False)
golden("pyarrow", sql, rows)

pq.write_table(table.select(["i32", "i64", "f64", "s", "d18", "b"]), "pyarrow_v2.parquet", row_group_size=16, compression="zstd",
               data_page_version="2.0", use_dictionary=False, store_schema=False, data_page_size=64, store_decimal_as_integer=True,
               column_encoding={"i32": "DELTA_BINARY_PACKED", "i64": "BYTE_STREAM_SPLIT", "f64": "BYTE_STREAM_SPLIT",
                                "s": "DELTA_BYTE_ARRAY", "d18": "DELTA_BINARY_PACKED", "b": "RLE"})
pick = [3, 4, 10, 18, 12, 0]
golden("pyarrow_v2", ", ".join(cols[k][0] + " " + cols[k][1] for k in pick), [[r[k] for k in pick] for r in rows])

pq.write_table(table.select(["us"]), "int96.parquet", use_deprecated_int96_timestamps=True, compression="gzip", store_schema=False)
golden("int96", "us TIMESTAMP", [[r[16]] for r in rows])

required = pa.table({"k": pa.array(range(10), pa.int64()), "l": pa.array(["a%d" % i for i in range(10)])},
                    schema=pa.schema([pa.field("k", pa.int64(), False), pa.field("l", pa.string(), False)]))
pq.write_table(required, "required.parquet", compression="lz4", store_schema=False)
golden("required", "k BIGINT NOT NULL, l VARCHAR NOT NULL", [[i, "a%d" % i] for i in range(10)])

pq.write_table(pa.table({"a": [b"\xff\xfe"]}), "binary.parquet", store_schema=False)
pq.write_table(pa.table({"a": pa.array([1], pa.time64("us"))}), "time.parquet", store_schema=False)

con = duckdb.connect()
con.execute("""copy (select i::tinyint a, (i * 1.5)::decimal(4,1) b, case when i % 3 = 0 then null else 'n' || i end c,
    date '2020-01-01' + i::int d, i::uinteger e, (i * 1000000007)::hugeint::decimal(38,5) f, i % 2 = 0 g,
    uuid '00112233-4455-6677-8899-aabbccddeeff' h, to_months(i::int) + to_days(2) + to_milliseconds(i * 1001) j,
    timestamp '2020-01-01 00:00:00' + to_microseconds(i) k
    from range(12) t(i)) to 'duckdb.parquet' (format parquet, row_group_size 2048)""")
golden("duckdb", "a TINYINT, b DECIMAL(4,1), c VARCHAR, d DATE, e UINTEGER, f DECIMAL(38,5), g BOOLEAN, h VARCHAR NOT NULL, j INTERVAL, k TIMESTAMP", [
    [i, D(i * 15).scaleb(-1), None if i % 3 == 0 else "n%d" % i, dt.date(2020, 1, 1) + dt.timedelta(days=i), i,
     D(i * 1000000007 * 10**5).scaleb(-5), i % 2 == 0, "00112233-4455-6677-8899-aabbccddeeff", None, dt.datetime(2020, 1, 1) + dt.timedelta(microseconds=i)]
    for i in range(12)])
lines = open("duckdb.txt").read().splitlines()
for i in range(12):  # intervals as PostgreSQL writes them
    ms = i * 1001
    t = "%d mon%s " % (i, "s" if i != 1 else "") if i else ""
    t += "2 days" + (" 00:00:%02d" % (ms // 1000) + ((".%03d" % (ms % 1000)).rstrip("0") if ms % 1000 else "") if ms else "")
    p = lines[i + 1].rsplit(" NULL ", 1)
    lines[i + 1] = p[0] + " " + t + " " + p[1]
open("duckdb.txt", "w").write("\n".join(lines) + "\n")
