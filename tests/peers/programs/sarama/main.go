// Two members of a group share a topic with sarama and commit: a line of output says what was right.
//
//	go run . HOST:PORT
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"sync"
	"time"

	"github.com/IBM/sarama"
)

const (
	topic   = "sarama-orders"
	group   = "sarama-shop"
	records = 40
	limit   = 60 * time.Second
)

type member struct {
	claims chan int
	reads  chan struct{}
}

func (m member) Setup(session sarama.ConsumerGroupSession) error {
	m.claims <- len(session.Claims()[topic])
	return nil
}

func (member) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (m member) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case message, ok := <-claim.Messages():
			if !ok {
				return nil
			}
			session.MarkMessage(message, "")
			m.reads <- struct{}{}
		case <-session.Context().Done():
			return nil
		}
	}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func await(what string, until func() bool) {
	for end := time.Now().Add(limit); !until(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			log.Fatalf("waited too long for: %s", what)
		}
	}
	fmt.Println(what)
}

func begin(brokers []string, config *sarama.Config, running *sync.WaitGroup, ctx context.Context) (member, sarama.ConsumerGroup) {
	one := member{make(chan int, 100), make(chan struct{}, 1000)}
	consumer, err := sarama.NewConsumerGroup(brokers, group, config)
	must(err)
	running.Add(1)
	go func() {
		defer running.Done()
		for ctx.Err() == nil {
			if err := consumer.Consume(ctx, []string{topic}, one); err != nil {
				log.Println(err)
			}
		}
		must(consumer.Close())
	}()
	return one, consumer
}

func main() {
	brokers := []string{os.Args[1]}
	config := sarama.NewConfig()
	config.Version = sarama.MaxVersion
	config.Producer.Return.Successes = true
	config.Producer.Partitioner = sarama.NewManualPartitioner
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	admin, err := sarama.NewClusterAdmin(brokers, config)
	must(err)
	must(admin.CreateTopic(topic, &sarama.TopicDetail{NumPartitions: 4, ReplicationFactor: 1}, false))
	producer, err := sarama.NewSyncProducer(brokers, config)
	must(err)
	for number := range records {
		message := &sarama.ProducerMessage{Topic: topic, Partition: int32(number % 4), Value: sarama.StringEncoder(fmt.Sprint(number))}
		_, _, err = producer.SendMessage(message)
		must(err)
	}
	must(producer.Close())

	ctx, stop := context.WithCancel(context.Background())
	running := &sync.WaitGroup{}
	first, _ := begin(brokers, config, running, ctx)
	await("joined", func() bool { return len(first.claims) > 0 && <-first.claims == 4 })
	await("read", func() bool { return len(first.reads) == records })
	leaving, leave := context.WithCancel(ctx)
	others := &sync.WaitGroup{}
	second, _ := begin(brokers, config, others, leaving)
	await("shared", func() bool { return len(second.claims) > 0 && <-second.claims == 2 })
	leave()
	others.Wait()
	await("taken over", func() bool {
		for len(first.claims) > 0 {
			if <-first.claims == 4 {
				return true
			}
		}
		return false
	})
	stop()
	running.Wait()
	committed, err := admin.ListConsumerGroupOffsets(group, map[string][]int32{topic: {0, 1, 2, 3}})
	must(err)
	var sum int64
	for _, block := range committed.Blocks[topic] {
		sum += block.Offset
	}
	if sum == records {
		fmt.Println("committed")
	} else {
		log.Fatalf("committed %d records", sum)
	}
	listed, err := admin.ListConsumerGroups()
	must(err)
	if _, ok := listed[group]; ok {
		fmt.Println("listed")
	}
	must(admin.DeleteConsumerGroup(group))
	fmt.Println("deleted")
	must(admin.Close())
}
