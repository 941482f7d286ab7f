package kelpie_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/kelpiedb/kelpie"
)

func Example() {
	ctx := context.Background()
	db, err := kelpie.Open()
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	s := db.Session()
	_, err = s.Exec(ctx, `
		create table items (name varchar, price decimal(8,2), since date);
		insert into items values
			('anchor', 120.00, '2024-03-01'),
			('bucket', 9.50, '2023-11-20'),
			('cable', 17.25, null)`)
	if err != nil {
		log.Fatal(err)
	}
	res, err := s.Query(ctx, "select name, price, since from items where price < $1 order by price", 100)
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	for res.Next() {
		var name, price string
		var since *time.Time
		if err := res.Scan(&name, &price, &since); err != nil {
			log.Fatal(err)
		}
		if since == nil {
			fmt.Println(name, price)
			continue
		}
		fmt.Println(name, price, since.Format(time.DateOnly))
	}
	if err := res.Err(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// bucket 9.50 2023-11-20
	// cable 17.25
}

// Rows are delivered as Arrow record batches without going through Go values.
func ExampleResult_Batches() {
	ctx := context.Background()
	db, _ := kelpie.Open(kelpie.WithThreads(2))
	defer db.Close()
	res, err := db.Session().Query(ctx, "select i, i * i as square from generate_series(1, 4) as t(i)")
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	fmt.Println(res.Schema().Field(1).Name)
	for batch, err := range res.Batches() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.Column(1).(*array.Int32).Int32Values())
	}
	// Output:
	// square
	// [1 4 9 16]
}

// Errors carry a SQLSTATE, a place and often a hint.
func ExampleError_Format() {
	ctx := context.Background()
	db, _ := kelpie.Open()
	defer db.Close()
	s := db.Session()
	if _, err := s.Exec(ctx, "create table items (name varchar, price decimal(8,2))"); err != nil {
		log.Fatal(err)
	}
	query := "select name\nfrom items\nwhere prise < 10"
	_, err := s.Query(ctx, query)
	if e := (*kelpie.Error)(nil); errors.As(err, &e) {
		fmt.Println(e.Code)
		fmt.Println(e.Format(query))
	}
	// Output:
	// 42703
	// ERROR: column "prise" does not exist (42703)
	// LINE 3: where prise < 10
	//               ^
	// HINT: did you mean "price" (items)?
}

func ExampleSession_QueryRow() {
	ctx := context.Background()
	db, _ := kelpie.Open()
	defer db.Close()
	s := db.Session()
	var n int
	var last sql.Null[string]
	err := s.QueryRow(ctx, "select count(*), max(x) from (values ('a'), ('b'), (null)) as t(x) where x <> $1", "b").Scan(&n, &last)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(n, last.V)
	// Output: 1 a
}

// The context ends a query that takes too long.
func ExampleSession_Query_timeout() {
	db, _ := kelpie.Open()
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := db.Session().Query(ctx, "select count(*) from generate_series(1, 1000000) a, generate_series(1, 1000000) b where a + b = 7")
	fmt.Println(err)
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	// Output:
	// canceling statement due to timeout (57014)
	// true
}
