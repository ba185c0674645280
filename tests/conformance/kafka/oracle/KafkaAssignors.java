package org.apache.kafka.coordinator.group;

// Kafka's own assignors behind JSON lines: one line is a group and what it has, the answer is the records of its new target
// assignment. TargetAssignmentBuilder of the 4.4.0 jars runs them as the coordinator does, with the coordinator's own tables,
// so that ties fall as they fall in a broker; ../test_assignors.py holds our assignors against them. Compiled with plain javac
// (../coordinators.py).
//
// {"assignor": "uniform", "members": [MEMBER...], "updated": MEMBER, "replaced": ID or null, "regexes": {REGEX: [NAME...]},
//  "topics": [{"id", "name", "partitions"}...], "targets": {MEMBER ID: [[TOPIC ID, [PARTITION...]]...]},
//  "subscription_type": null (the members tell it), "HOMOGENEOUS" or "HETEROGENEOUS"}
// MEMBER is {"id", "instance", "rack", "names": [NAME...], "regex"}; members in the order in which they joined.
// -> {"kind": "assignment", "records": [[MEMBER ID, [[TOPIC ID, [PARTITION...]]...]]...]} or {"kind": "error", "message"},
// then {"kind": "done"}.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RegisterBrokerRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.KRaftCoordinatorMetadataImage;
import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignorException;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMemberKey;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMemberValue;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.ModernGroupMember;
import org.apache.kafka.coordinator.group.modern.SubscriptionCount;
import org.apache.kafka.coordinator.group.modern.TargetAssignmentBuilder;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroup;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember;
import org.apache.kafka.coordinator.group.modern.consumer.ResolvedRegularExpression;
import org.apache.kafka.coordinator.group.util.UpdatedMembersAndTargetAssignmentView;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.timeline.SnapshotRegistry;
import org.apache.kafka.timeline.TimelineHashMap;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.*;

public class KafkaAssignors {
    static final ObjectMapper JSON = new ObjectMapper();
    static final Map<String, ConsumerGroupPartitionAssignor> ASSIGNORS = Map.of("uniform", new UniformAssignor(), "range", new RangeAssignor());
    static final int BROKERS = 3;

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(answer(JSON.readTree(line)));
            out.println("{\"kind\": \"done\"}");
            out.flush();
        }
    }

    static ObjectNode answer(JsonNode problem) {
        try {
            return new KafkaAssignors(problem).assign();
        } catch (PartitionAssignorException e) {
            return JSON.createObjectNode().put("kind", "error").put("message", String.valueOf(e.getMessage()));
        }
    }

    final JsonNode problem;
    final TimelineHashMap<String, ConsumerGroupMember> members = new TimelineHashMap<>(new SnapshotRegistry(new LogContext()), 0);
    final Map<String, ResolvedRegularExpression> regexes = new HashMap<>();
    final Map<String, Assignment> targets = new HashMap<>();
    final Map<Uuid, Map<Integer, String>> inverted = new HashMap<>();

    KafkaAssignors(JsonNode problem) {
        this.problem = problem;
        for (JsonNode m : problem.get("members")) {
            ConsumerGroupMember member = member(m);
            members.put(member.memberId(), member);  // its metadata
            members.put(member.memberId(), member);  // its current assignment
        }
        problem.get("regexes").fields().forEachRemaining(e ->
            regexes.put(e.getKey(), new ResolvedRegularExpression(new HashSet<>(names(e.getValue())), 1L, 0L)));
        problem.get("targets").fields().forEachRemaining(e -> target(e.getKey(), e.getValue()));
    }

    ObjectNode assign() {
        ConsumerGroupMember updated = member(problem.get("updated"));
        String stale = text(problem, "subscription_type");
        SubscriptionType type = stale == null ? subscriptionType(updated) : SubscriptionType.valueOf(stale);
        Map<String, String> staticMembers = replaced() == null ? Map.of() : Map.of(updated.instanceId(), replaced());
        var view = new UpdatedMembersAndTargetAssignmentView<ConsumerGroupMember, Assignment>(members, staticMembers, targets, ModernGroupMember::instanceId);
        view.addOrUpdateMember(updated.memberId(), updated);
        var builder = new TargetAssignmentBuilder.ConsumerTargetAssignmentBuilder("g", 1, ASSIGNORS.get(problem.get("assignor").asText()))
            .withTime(Time.SYSTEM)
            .withMembers(view.members())
            .withSubscriptionType(type)
            .withTargetAssignment(view.targetAssignment())
            .withInvertedTargetAssignment(inverted)
            .withMetadataImage(image())
            .withResolvedRegularExpressions(regexes);
        ObjectNode answer = JSON.createObjectNode().put("kind", "assignment");
        ArrayNode records = answer.putArray("records");
        for (CoordinatorRecord record : builder.build().records())
            if (record.key() instanceof ConsumerGroupTargetAssignmentMemberKey key) {
                ArrayNode one = records.addArray().add(key.memberId());
                ArrayNode topics = one.addArray();
                for (var tp : ((ConsumerGroupTargetAssignmentMemberValue) record.value().message()).topicPartitions()) {
                    ArrayNode partitions = topics.addArray().add(tp.topicId().toString()).addArray();
                    tp.partitions().forEach(partitions::add);
                }
            }
        return answer;
    }

    String replaced() {
        return text(problem, "replaced");
    }

    static ConsumerGroupMember member(JsonNode m) {
        return new ConsumerGroupMember.Builder(m.get("id").asText())
            .setInstanceId(text(m, "instance"))
            .setRackId(text(m, "rack"))
            .setSubscribedTopicNames(names(m.get("names")))
            .setSubscribedTopicRegex(text(m, "regex"))
            .build();
    }

    void target(String memberId, JsonNode topicPartitions) {
        var record = new ConsumerGroupTargetAssignmentMemberValue();
        for (JsonNode tp : topicPartitions) {
            Uuid topic = Uuid.fromString(tp.get(0).asText());
            List<Integer> partitions = new ArrayList<>();
            for (JsonNode p : tp.get(1)) {
                partitions.add(p.asInt());
                inverted.computeIfAbsent(topic, t -> new HashMap<>()).put(p.asInt(), memberId);
            }
            record.topicPartitions().add(new ConsumerGroupTargetAssignmentMemberValue.TopicPartition().setTopicId(topic).setPartitions(partitions));
        }
        targets.put(memberId, Assignment.fromRecord(record));
    }

    SubscriptionType subscriptionType(ConsumerGroupMember updated) {
        Map<String, ConsumerGroupMember> all = new HashMap<>(members);
        all.remove(replaced());
        all.put(updated.memberId(), updated);
        Map<String, Integer> byRegex = new HashMap<>();
        Map<String, SubscriptionCount> byName = new HashMap<>();
        for (ConsumerGroupMember member : all.values()) {
            for (String name : member.subscribedTopicNames()) byName.compute(name, SubscriptionCount::incNameCount);
            String regex = member.subscribedTopicRegex();
            if (regex != null && !regex.isEmpty() && byRegex.merge(regex, 1, Integer::sum) == 1 && regexes.containsKey(regex))
                for (String name : regexes.get(regex).topics()) byName.compute(name, SubscriptionCount::incRegexCount);
        }
        return ConsumerGroup.subscriptionType(byRegex, byName, all.size());
    }

    CoordinatorMetadataImage image() {
        MetadataDelta delta = new MetadataDelta.Builder().setImage(MetadataImage.EMPTY).build();
        for (int broker = 0; broker < BROKERS; broker++)
            delta.replay(new RegisterBrokerRecord().setBrokerId(broker).setRack("rack-" + broker));
        for (JsonNode t : problem.get("topics")) {
            Uuid id = Uuid.fromString(t.get("id").asText());
            delta.replay(new TopicRecord().setTopicId(id).setName(t.get("name").asText()));
            for (int p = 0; p < t.get("partitions").asInt(); p++)
                delta.replay(new PartitionRecord().setTopicId(id).setPartitionId(p).setReplicas(List.of(p % BROKERS)).setIsr(List.of(p % BROKERS)).setLeader(p % BROKERS));
        }
        return new KRaftCoordinatorMetadataImage(delta.apply(new MetadataProvenance(1, 0, 0, true)));
    }

    static List<String> names(JsonNode list) {
        List<String> names = new ArrayList<>();
        list.forEach(name -> names.add(name.asText()));
        return names;
    }

    static String text(JsonNode node, String field) {
        return node.path(field).isTextual() ? node.get(field).asText() : null;
    }
}
