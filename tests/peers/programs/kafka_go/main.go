// A member of a group commits after each record with kafka-go: a line of output says what was right, the last one how long that took.
//
//	go run . HOST:PORT
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/segmentio/kafka-go"
)

const (
	topic   = "kafka-go-orders"
	group   = "kafka-go-shop"
	records = 144
	limit   = 240 * time.Second
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func write(ctx context.Context, messages ...kafka.Message) {
	writer := &kafka.Writer{Addr: kafka.TCP(os.Args[1]), Topic: topic, Balancer: &kafka.RoundRobin{}}
	must(writer.WriteMessages(ctx, messages...))
	must(writer.Close())
}

func reader() *kafka.Reader {
	return kafka.NewReader(kafka.ReaderConfig{
		Brokers:     []string{os.Args[1]},
		GroupID:     group,
		Topic:       topic,
		MaxWait:     100 * time.Millisecond,
		StartOffset: kafka.FirstOffset,
	})
}

func main() {
	ctx, stop := context.WithTimeout(context.Background(), limit)
	defer stop()
	client := &kafka.Client{Addr: kafka.TCP(os.Args[1])}
	created, err := client.CreateTopics(ctx, &kafka.CreateTopicsRequest{
		Topics: []kafka.TopicConfig{{Topic: topic, NumPartitions: 3, ReplicationFactor: 1}},
	})
	must(err)
	must(created.Errors[topic])
	messages := make([]kafka.Message, records)
	for number := range messages {
		messages[number] = kafka.Message{Value: fmt.Append(nil, number)}
	}
	write(ctx, messages...)

	first := reader()
	message, err := first.FetchMessage(ctx)
	must(err)
	fmt.Println("joined")
	begun := time.Now()
	for number := range records {
		must(first.CommitMessages(ctx, message))
		if number < records-1 {
			message, err = first.FetchMessage(ctx)
			must(err)
		}
	}
	took := time.Since(begun)
	fmt.Println("each committed")
	must(first.Close())

	committed, err := client.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{topic: {0, 1, 2}}})
	must(err)
	var sum int64
	for _, partition := range committed.Topics[topic] {
		must(partition.Error)
		sum += partition.CommittedOffset
	}
	if sum != records {
		log.Fatalf("committed %d records", sum)
	}
	fmt.Println("committed")

	write(ctx, kafka.Message{Value: []byte("one more")})
	second := reader()
	message, err = second.FetchMessage(ctx)
	must(err)
	if string(message.Value) != "one more" {
		log.Fatalf("read %q again", message.Value)
	}
	fmt.Println("gone on")
	must(second.Close())
	log.Printf("%d commits in %v", records, took)
}
