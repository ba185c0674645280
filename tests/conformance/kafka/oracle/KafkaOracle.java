package org.apache.kafka.coordinator.group;

// The oracle of the conformance tests: Kafka's own group coordinator (GroupCoordinatorService + CoordinatorRuntime of the jars
// on the class path, 4.4.0) behind the JSON lines of `group-coordinator replay-events`, with a clock that is moved by hand.
// It says what Kafka does, to the millisecond; ../test_scripts.py holds our answers against its answers. One file, compiled
// with plain javac (../coordinators.py). It lives in Kafka's package to reach package-private constructors.
// What KafkaApis does before the coordinator (topic existence, topic ids) is repeated here in a few lines.
// Beyond replay-events it takes {"settings": {"KEY": "VALUE"}, "ids": "SALT"}: a fresh coordinator with these settings, its clock
// at its first line; so one process plays any number of scripts that know nothing of each other. With "ids" the member ids that it
// makes up follow from the salt and the number of the line (../member_ids.py), so that both sides hash the same ids. To
// {"meters": true} it says what Kafka's meters have counted since then. {"at": TIME, "restart": {"KEY": "VALUE"}, "log": "whole"} ends
// the coordinator; another one loads its log with these settings changed. "latest" keeps the last record of each key, "live" no tombstones.

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.common.utils.internals.BufferSupplier;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.security.authorizer.AclEntry;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.message.*;
import org.apache.kafka.common.metadata.PartitionChangeRecord;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RegisterBrokerRecord;
import org.apache.kafka.common.metadata.RemoveTopicRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.network.ClientInformation;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.requests.*;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.coordinator.common.runtime.*;
import org.apache.kafka.coordinator.group.generated.CoordinatorRecordJsonConverters;
import org.apache.kafka.coordinator.group.metrics.GroupCoordinatorMetrics;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupConfig;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.metadata.Replicas;
import org.apache.kafka.server.share.persister.NoOpStatePersister;
import org.apache.kafka.server.util.timer.TimerTask;
import org.apache.kafka.server.util.timer.TimerTaskEntry;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.VerificationGuard;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;

public class KafkaOracle {
    static final ObjectMapper JSON = new ObjectMapper();
    static final TopicPartition TP = new TopicPartition("__consumer_offsets", 0);

    // ------------------------------------------------------------------ clock
    static class VirtualTime implements Time {
        long now = 0;
        @Override public long milliseconds() { return now; }
        @Override public long nanoseconds() { return now * 1_000_000L; }
        @Override public void sleep(long ms) { }
        @Override public void waitObject(Object obj, Supplier<Boolean> condition, long deadlineMs) { }
    }

    // ------------------------------------------------------------------ chance
    /** Where java.util.UUID takes its random bytes from: given ones for a line of a conversation that names a salt. */
    public static class Ids extends java.security.SecureRandomSpi {
        static final Random CHANCE = new Random();
        static String salt;
        static long line;
        static int given;
        static void nextLine() { line++; given = 0; }
        static void begin(String newSalt) { salt = newSalt; line = 0; given = 0; }
        @Override protected void engineSetSeed(byte[] seed) { }
        @Override protected byte[] engineGenerateSeed(int n) { byte[] b = new byte[n]; engineNextBytes(b); return b; }
        @Override protected void engineNextBytes(byte[] bytes) {
            if (salt == null || bytes.length != 16) { CHANCE.nextBytes(bytes); return; }
            try {
                String name = salt + "replay-0-" + line + (given++ == 0 ? "" : "-" + given);
                byte[] digest = java.security.MessageDigest.getInstance("SHA-1").digest(name.getBytes(StandardCharsets.UTF_8));
                System.arraycopy(digest, 0, bytes, 0, 16);
            } catch (java.security.NoSuchAlgorithmException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static class IdProvider extends java.security.Provider {
        IdProvider() { super("ids", "1", "bytes of member ids"); put("SecureRandom.Ids", Ids.class.getName()); }
    }

    static class VirtualTimer implements org.apache.kafka.server.util.timer.Timer {
        record Entry(TimerTaskEntry entry, long seq) { }
        final VirtualTime time;
        long seq = 0;
        final PriorityQueue<Entry> queue = new PriorityQueue<>(
            Comparator.<Entry>comparingLong(e -> e.entry.expirationMs).thenComparingLong(e -> e.seq));
        VirtualTimer(VirtualTime time) { this.time = time; }
        @Override public void add(TimerTask task) {
            queue.add(new Entry(new TimerTaskEntry(task, time.now + Math.max(0, task.delayMs)), seq++));
        }
        void advanceTo(long t) {
            while (!queue.isEmpty() && queue.peek().entry.expirationMs <= t) {
                TimerTaskEntry head = queue.poll().entry;
                if (head.cancelled()) continue;
                time.now = Math.max(time.now, head.expirationMs);
                head.timerTask.run();
            }
            time.now = Math.max(time.now, t);
        }
        @Override public boolean advanceClock(long ms) { return false; }
        @Override public int size() { return queue.size(); }
        @Override public void close() { }
    }

    static class DirectProcessor implements CoordinatorEventProcessor {
        final Deque<CoordinatorEvent> queue = new ArrayDeque<>();
        boolean inEvent = false;
        @Override public void enqueueLast(CoordinatorEvent event) { queue.addLast(event); drain(); }
        @Override public void enqueueFirst(CoordinatorEvent event) { queue.addFirst(event); drain(); }
        @Override public void close() { }
        void drain() {
            if (inEvent) return;
            inEvent = true;
            try {
                while (!queue.isEmpty()) {
                    CoordinatorEvent event = queue.removeFirst();
                    try {
                        event.run();
                    } catch (Throwable t) {
                        event.complete(t);
                    }
                }
            } finally {
                inEvent = false;
            }
        }
    }

    static class DirectExecutor extends AbstractExecutorService {
        @Override public void execute(Runnable r) { r.run(); }
        @Override public void shutdown() { }
        @Override public List<Runnable> shutdownNow() { return List.of(); }
        @Override public boolean isShutdown() { return false; }
        @Override public boolean isTerminated() { return false; }
        @Override public boolean awaitTermination(long t, TimeUnit u) { return true; }
    }

    /** A record of the log as a broker keeps it; a transaction marker has no record. */
    record Kept(CoordinatorRecord record, ControlRecordType marker, long producerId, short epoch) {
        String key() { return record.key().apiKey() + CoordinatorRecordJsonConverters.writeRecordKeyAsJson(record.key()).toString(); }

        void replay(long offset, CoordinatorPlayback<CoordinatorRecord> playback) {
            if (marker == null) playback.replay(offset, producerId, epoch, record);
            else playback.replayEndTransactionMarker(producerId, epoch,
                marker == ControlRecordType.COMMIT ? TransactionResult.COMMIT : TransactionResult.ABORT);
        }
    }

    class Writer implements PartitionWriter {
        final List<Listener> listeners = new ArrayList<>();
        @Override public void registerListener(TopicPartition tp, Listener l) { listeners.add(l); }
        @Override public void deregisterListener(TopicPartition tp, Listener l) { listeners.remove(l); }
        @Override public LogConfig config(TopicPartition tp) { return new LogConfig(Map.of()); }
        @Override public long append(TopicPartition tp, VerificationGuard guard, MemoryRecords batch, short tv) {
            GroupCoordinatorRecordSerde serde = new GroupCoordinatorRecordSerde();
            for (RecordBatch b : batch.batches())
                for (Record r : b) {
                    ControlRecordType marker = b.isControlBatch() ? ControlRecordType.parse(r.key()) : null;
                    CoordinatorRecord record = marker != null ? null : serde.deserialize(r.key(), r.hasValue() ? r.value() : null);
                    kept.add(new Kept(record, marker, b.producerId(), b.producerEpoch()));
                    if (marker != null) emitMarker(b.producerId(), marker);
                    else emitRecord(record, b.producerId());
                }
            listeners.forEach(l -> l.onHighWatermarkUpdated(tp, kept.size()));
            return kept.size();
        }
        @Override public CompletableFuture<VerificationGuard> maybeStartTransactionVerification(
            TopicPartition tp, String id, long pid, short epoch, int v) {
            return CompletableFuture.completedFuture(new VerificationGuard());
        }
        @Override public CompletableFuture<Void> deleteRecords(TopicPartition tp, long before) {
            return CompletableFuture.completedFuture(null);
        }
    }

    static class Config extends GroupCoordinatorConfig {
        final Long retentionMs;
        Config(AbstractConfig config, Long retentionMs) { super(config); this.retentionMs = retentionMs; }
        @Override public long offsetsRetentionMs() { return retentionMs != null ? retentionMs : super.offsetsRetentionMs(); }
    }

    // ------------------------------------------------------------------ state
    final VirtualTime time = new VirtualTime();
    final VirtualTimer timer = new VirtualTimer(time);
    final Map<String, String> settings;
    final List<Kept> kept = new ArrayList<>();
    final Config config;
    final ShareGroupConfig shareConfig;
    final GroupConfigManager groupConfigs;
    final Map<String, Properties> groupProps = new HashMap<>();
    GroupCoordinatorService service;
    MetadataImage image = MetadataImage.EMPTY;
    long imageVersion = 0;
    boolean topicsGiven = false;
    final Map<String, Integer> brokerOf = new HashMap<>();
    String markedGroup;
    boolean started = false;
    final PrintStream out;
    Metrics metrics;

    KafkaOracle(Map<String, String> settings, PrintStream out) {
        this.out = out;
        this.settings = settings;
        Map<String, Object> props = new HashMap<>();
        Long retentionMs = null;
        for (Map.Entry<String, String> e : settings.entrySet()) {
            if (e.getKey().equals("offsets.retention.ms")) retentionMs = Long.parseLong(e.getValue());
            else props.put(e.getKey(), e.getValue());
        }
        config = new Config(new AbstractConfig(GroupCoordinatorConfig.CONFIG_DEF, props, false), retentionMs);
        org.apache.kafka.common.config.ConfigDef both = new org.apache.kafka.common.config.ConfigDef(GroupCoordinatorConfig.CONFIG_DEF);
        ShareGroupConfig.CONFIG_DEF.configKeys().values().forEach(k -> { if (!both.names().contains(k.name)) both.define(k); });
        shareConfig = new ShareGroupConfig(new AbstractConfig(both, props, false));
        groupConfigs = new GroupConfigManager(config, shareConfig);
    }

    // The coordinator starts at the first time it is told, so that Kafka's sweep falls on the epoch-aligned grid.
    void start(long at) {
        if (started) return;
        started = true;
        long interval = config.offsetsRetentionCheckIntervalMs();
        time.now = at - Math.floorMod(at, interval);
        LogContext log = new LogContext("");
        metrics = new Metrics();
        GroupCoordinatorMetrics groupMetrics = new GroupCoordinatorMetrics(new com.yammer.metrics.core.MetricsRegistry(), metrics);
        CoordinatorRuntime<GroupCoordinatorShard, CoordinatorRecord> runtime =
            new CoordinatorRuntime.Builder<GroupCoordinatorShard, CoordinatorRecord>()
                .withTime(time)
                .withTimer(timer)
                .withLogPrefix("oracle")
                .withLogContext(log)
                .withEventProcessor(new DirectProcessor())
                .withPartitionWriter(new Writer())
                .withLoader(new CoordinatorLoader<CoordinatorRecord>() {
                    @Override public CompletableFuture<LoadSummary> load(TopicPartition tp, CoordinatorPlayback<CoordinatorRecord> c) {
                        for (int i = 0; i < kept.size(); i++) kept.get(i).replay(i, c);
                        if (!kept.isEmpty()) c.updateLastWrittenOffset((long) kept.size());
                        if (!kept.isEmpty()) c.updateLastCommittedOffset((long) kept.size());
                        return CompletableFuture.completedFuture(new LoadSummary(time.now, time.now, 0, kept.size(), 0));
                    }
                    @Override public void close() { }
                })
                .withCoordinatorShardBuilderSupplier(() -> new GroupCoordinatorShard.Builder(config, groupConfigs)
                    .withAuthorizerPlugin(Optional.empty()))
                .withWriteTimeout(Duration.ofMillis(config.offsetCommitTimeoutMs()))
                .withCoordinatorRuntimeMetrics(new CoordinatorRuntimeMetricsImpl(metrics, "oracle", true))
                .withCoordinatorMetrics(groupMetrics)
                .withSerializer(new GroupCoordinatorRecordSerde())
                .withCompression(Compression.NONE)
                .withAppendLingerMs(OptionalInt.of(0))
                .withExecutorService(new DirectExecutor())
                .withCachedBufferMaxBytesSupplier(() -> 1024 * 1024)
                .build();
        service = new GroupCoordinatorService(log, config, runtime, groupMetrics, groupConfigs, new NoOpStatePersister(), timer, null, Optional.empty(), time);
        service.startup(() -> 1);
        if (topicsGiven) service.onMetadataUpdate(new MetadataDelta.Builder().setImage(image).build(), image);
        service.onElection(0, 0);
    }

    /** Another broker after this one: the log, the configs of groups and the topics are all that it finds. */
    KafkaOracle successor(JsonNode line) throws Exception {
        long at = line.get("at").asLong();
        line("{\"at\": " + at + "}");
        Map<String, String> changed = new HashMap<>(settings);
        changed.putAll(JSON.convertValue(line.get("restart"), new TypeReference<Map<String, String>>() { }));
        KafkaOracle next = new KafkaOracle(changed, out);
        String log = line.get("log").asText();
        Map<String, Kept> last = new HashMap<>();
        if (!log.equals("whole")) kept.forEach(one -> last.put(one.key(), one));
        for (Kept one : kept)
            if (log.equals("whole") || last.get(one.key()) == one && (log.equals("latest") || one.record.value() != null)) next.kept.add(one);
        next.groupProps.putAll(groupProps);
        groupProps.forEach(next.groupConfigs::updateGroupConfig);
        next.image = image;
        next.imageVersion = imageVersion;
        next.topicsGiven = topicsGiven;
        next.brokerOf.putAll(brokerOf);
        next.start(at);
        return next;
    }

    // ------------------------------------------------------------------ output
    void emit(ObjectNode node) {
        out.print(node.toString());
        out.print('\n');
    }

    /** Kafka's control records have no JSON and no group: the line is ours, for the group that the event was about. */
    void emitMarker(long producerId, ControlRecordType type) {
        ObjectNode node = JSON.createObjectNode();
        node.put("kind", "record");
        node.put("groupId", markedGroup);
        node.put("at", time.now);
        ObjectNode key = JSON.createObjectNode().put("type", -1);
        key.set("data", JSON.createObjectNode().put("group", markedGroup).put("version", 0).put("type", type.type()));
        node.set("key", key);
        ObjectNode value = JSON.createObjectNode().put("version", 0).put("producerId", producerId);
        value.set("data", JSON.createObjectNode().put("coordinatorEpoch", 0));
        node.set("value", value);
        emit(node);
    }

    void emitRecord(CoordinatorRecord record, long producerId) {
        ObjectNode node = JSON.createObjectNode();
        node.put("kind", "record");
        short type = record.key().apiKey();
        JsonNode keyData = CoordinatorRecordJsonConverters.writeRecordKeyAsJson(record.key());
        node.put("groupId", keyData.has("group") ? keyData.get("group").asText() : keyData.path("groupId").asText());
        node.put("at", time.now);
        ObjectNode key = JSON.createObjectNode();
        key.put("type", type);
        key.set("data", keyData);
        node.set("key", key);
        if (record.value() == null) {
            node.set("value", NullNode.instance);
        } else {
            ObjectNode value = JSON.createObjectNode();
            value.put("version", record.value().version());
            if (producerId != RecordBatch.NO_PRODUCER_ID) value.put("producerId", producerId);
            value.set("data", CoordinatorRecordJsonConverters.writeRecordValueAsJson(record.value().message(), record.value().version()));
            node.set("value", value);
        }
        emit(node);
    }

    void emitResponse(JsonNode event, String group, JsonNode body) {
        JsonNode correlation = event.get("correlationId");
        if (correlation == null || correlation.isNull()) return;
        ObjectNode node = JSON.createObjectNode();
        node.put("kind", "response");
        node.put("id", "oracle-" + correlation.asText());
        node.set("correlationId", correlation);
        node.set("api", event.get("api"));
        node.set("version", event.get("version"));
        node.put("groupId", group);
        node.put("at", time.now);
        node.set("body", body);
        emit(node);
    }

    void emitKind(String kind, String text) {
        ObjectNode node = JSON.createObjectNode();
        node.put("kind", kind);
        node.put(kind.equals("error") ? "message" : "reason", text);
        emit(node);
    }

    // ------------------------------------------------------------------ JSON -> message
    static Object fill(Object target, JsonNode node) throws Exception {
        Iterator<Map.Entry<String, JsonNode>> fields = node.fields();
        while (fields.hasNext()) {
            Map.Entry<String, JsonNode> field = fields.next();
            String name = "set" + Character.toUpperCase(field.getKey().charAt(0)) + field.getKey().substring(1);
            Method setter = null;
            for (Method m : target.getClass().getMethods())
                if (m.getName().equals(name) && m.getParameterCount() == 1) setter = m;
            if (setter == null) throw new IllegalArgumentException("no field " + field.getKey() + " in " + target.getClass().getSimpleName());
            setter.invoke(target, convert(field.getValue(), setter.getParameterTypes()[0], setter.getGenericParameterTypes()[0]));
        }
        return target;
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    static Object convert(JsonNode v, Class<?> type, Type generic) throws Exception {
        if (type == int.class) return v.intValue();
        if (type == long.class) return v.longValue();
        if (type == short.class) return (short) v.intValue();
        if (type == byte.class) return (byte) v.intValue();
        if (type == boolean.class) return v.booleanValue();
        if (v.isNull()) return null;
        if (type == String.class || type == Object.class) return v.textValue();
        if (type == Integer.class) return v.intValue();
        if (type == byte[].class) return Base64.getDecoder().decode(v.textValue());
        if (type == Uuid.class) return Uuid.fromString(v.textValue());
        if (List.class.isAssignableFrom(type) && type.isInterface()) {
            Type arg = ((ParameterizedType) generic).getActualTypeArguments()[0];
            List list = new ArrayList();
            for (JsonNode e : v) list.add(element(e, (Class<?>) arg));
            return list;
        }
        if (Collection.class.isAssignableFrom(type)) {
            Collection c = (Collection) type.getDeclaredConstructor().newInstance();
            Type arg = ((ParameterizedType) type.getGenericSuperclass()).getActualTypeArguments()[0];
            for (JsonNode e : v) c.add(element(e, (Class<?>) arg));
            return c;
        }
        return element(v, type);
    }

    static Object element(JsonNode e, Class<?> type) throws Exception {
        if (type == Integer.class || type == String.class || type == Uuid.class) return convert(e, type, type);
        return fill(type.getDeclaredConstructor().newInstance(), e);
    }

    static JsonNode toJson(ApiMessage message, short version) throws Exception {
        Class<?> converter = Class.forName(message.getClass().getName() + "JsonConverter");
        for (Method m : converter.getMethods())
            if (m.getName().equals("write") && m.getParameterCount() == 2) {
                // Once over the wire, so that fields a version does not know are dropped or refused as Kafka does.
                ByteBuffer buffer = MessageUtil.toByteBufferAccessor(message, version).buffer();
                ApiMessage copy = (ApiMessage) message.getClass().getDeclaredConstructor().newInstance();
                copy.read(new ByteBufferAccessor(buffer), version);
                return (JsonNode) m.invoke(null, copy, version);
            }
        throw new IllegalStateException();
    }

    // ------------------------------------------------------------------ events
    boolean exists(String topic, int partition) {
        var t = image.topics().getTopic(topic);
        return t != null && t.partitions().containsKey(partition);
    }

    static String groupOf(JsonNode body) {
        for (String list : List.of("groups", "groupsNames", "groupIds"))
            if (body.path(list).has(0)) {
                JsonNode first = body.get(list).get(0);
                return first.isTextual() ? first.asText() : first.path("groupId").asText();
            }
        return body.path("groupId").asText();
    }

    void event(JsonNode event) throws Exception {
        String api = event.get("api").asText();
        short version = (short) event.get("version").asInt();
        JsonNode body = event.get("body");
        if (api.equals("Tick")) return;
        if (api.equals("IncrementalAlterConfigs") || api.equals("DescribeConfigs")) { configs(event, api, version, body); return; }
        if (api.equals("EndTxn")) { endTransaction(event, body); return; }
        ApiKeys apiKey = null;
        for (ApiKeys k : ApiKeys.values()) if (k.name.equals(api)) apiKey = k;
        if (apiKey == null) { emitKind("deadLetter", "unknown api " + api); return; }
        if (!apiKey.isVersionSupported(version)) {
            emitResponse(event, groupOf(body), JSON.createObjectNode().put("errorCode", 35).put("errorMessage", api + " v" + version));
            return;
        }
        ApiMessage data = (ApiMessage) fill(Class.forName("org.apache.kafka.common.message." + api + "RequestData")
            .getDeclaredConstructor().newInstance(), body);
        ByteBuffer buffer = MessageUtil.toByteBufferAccessor(data, version).buffer();
        AbstractRequest request = AbstractRequest.parseRequest(apiKey, version, new ByteBufferAccessor(buffer)).request;
        String clientId = event.path("clientId").asText("client");
        String host = event.path("clientHost").asText("/127.0.0.1").substring(1);
        RequestContext ctx = new RequestContext(new RequestHeader(apiKey, version, clientId, 1), "c", InetAddress.getByName(host),
            new KafkaPrincipal("User", "ANONYMOUS"), ListenerName.normalised("PLAINTEXT"), SecurityProtocol.PLAINTEXT,
            ClientInformation.EMPTY, false);
        BufferSupplier buffers = BufferSupplier.NO_CACHING;

        if (request instanceof JoinGroupRequest r) {
            String g = r.data().groupId();
            service.joinGroup(ctx, r.data(), buffers).whenComplete((res, ex) -> answer(event, g, version,
                ex != null ? r.getErrorResponse(0, ex) : new JoinGroupResponse(res, version)));
        } else if (request instanceof SyncGroupRequest r) {
            String g = r.data().groupId();
            if (!r.areMandatoryProtocolTypeAndNamePresent()) {
                answer(event, g, version, r.getErrorResponse(0, Errors.INCONSISTENT_GROUP_PROTOCOL.exception()));
                return;
            }
            service.syncGroup(ctx, r.data(), buffers).whenComplete((res, ex) -> answer(event, g, version,
                ex != null ? r.getErrorResponse(0, ex) : new SyncGroupResponse(res)));
        } else if (request instanceof HeartbeatRequest r) {
            service.heartbeat(ctx, r.data()).whenComplete((res, ex) -> answer(event, r.data().groupId(), version,
                ex != null ? r.getErrorResponse(0, ex) : new HeartbeatResponse(res)));
        } else if (request instanceof LeaveGroupRequest r) {
            LeaveGroupRequestData d = r.normalizedData();
            service.leaveGroup(ctx, d).whenComplete((res, ex) -> answer(event, d.groupId(), version,
                ex != null ? r.getErrorResponse(0, ex) : new LeaveGroupResponse(res, version)));
        } else if (request instanceof OffsetCommitRequest r) {
            commit(event, version, ctx, r);
        } else if (request instanceof TxnOffsetCommitRequest r) {
            commitInTransaction(event, version, ctx, r);
        } else if (request instanceof OffsetFetchRequest r) {
            fetch(event, version, ctx, r);
        } else if (request instanceof OffsetDeleteRequest r) {
            delete(event, version, ctx, r);
        } else if (request instanceof DeleteGroupsRequest r) {
            List<String> names = new ArrayList<>(new LinkedHashSet<>(r.data().groupsNames()));
            service.deleteGroups(ctx, names, buffers).whenComplete((res, ex) -> answer(event, names.get(0), version,
                ex != null ? r.getErrorResponse(0, ex) : new DeleteGroupsResponse(new DeleteGroupsResponseData().setResults(res))));
        } else if (request instanceof DescribeGroupsRequest r) {
            service.describeGroups(ctx, r.data().groups()).whenComplete((res, ex) -> {
                // KafkaApis fills these in; without an authorizer everybody may do all.
                if (ex == null && version >= 3 && r.data().includeAuthorizedOperations())
                    for (var g : res) if (g.errorCode() == 0) g.setAuthorizedOperations(Utils.to32BitField(
                        AclEntry.supportedOperations(ResourceType.GROUP).stream().map(AclOperation::code).collect(Collectors.toSet())));
                answer(event, r.data().groups().get(0), version,
                    ex != null ? r.getErrorResponse(0, ex) : new DescribeGroupsResponse(new DescribeGroupsResponseData().setGroups(res)));
            });
        } else if (request instanceof ConsumerGroupHeartbeatRequest r) {
            service.consumerGroupHeartbeat(ctx, r.data()).whenComplete((res, ex) -> answer(event, r.data().groupId(), version,
                ex != null ? r.getErrorResponse(0, ex) : new ConsumerGroupHeartbeatResponse(res)));
        } else if (request instanceof ConsumerGroupDescribeRequest r) {
            service.consumerGroupDescribe(ctx, r.data().groupIds()).whenComplete((res, ex) -> answer(event, r.data().groupIds().get(0), version,
                ex != null ? r.getErrorResponse(0, ex) : new ConsumerGroupDescribeResponse(new ConsumerGroupDescribeResponseData().setGroups(res))));
        } else {
            emitKind("deadLetter", "api " + api);
        }
    }

    void answer(JsonNode event, String group, short version, AbstractResponse response) {
        try {
            emitResponse(event, group, toJson(response.data(), version));
        } catch (Exception e) {
            emitKind("error", "cannot serialise the response: " + e + " " + e.getCause());
        }
    }

    void commit(JsonNode event, short version, RequestContext ctx, OffsetCommitRequest r) {
        boolean ids = OffsetCommitResponse.useTopicIds(version);
        OffsetCommitResponse.Builder builder = OffsetCommitResponse.newBuilder(ids);
        List<OffsetCommitRequestData.OffsetCommitRequestTopic> known = new ArrayList<>();
        for (var topic : r.data().topics()) {
            if (!topicsGiven && !ids) { if (!topic.partitions().isEmpty()) known.add(topic); continue; }
            if (ids) {
                var t = image.topics().getTopic(topic.topicId());
                if (t != null) topic.setName(t.name());
                if (topic.name() == null || topic.name().isEmpty()) {
                    builder.<OffsetCommitRequestData.OffsetCommitRequestPartition>addPartitions(topic.topicId(), topic.name(),
                        topic.partitions(), p -> p.partitionIndex(), Errors.UNKNOWN_TOPIC_ID);
                    continue;
                }
            } else {
                var t = image.topics().getTopic(topic.name());
                topic.setTopicId(t == null ? Uuid.ZERO_UUID : t.id());
            }
            if (!exists(topic.name(), 0)) {
                builder.<OffsetCommitRequestData.OffsetCommitRequestPartition>addPartitions(topic.topicId(), topic.name(),
                    topic.partitions(), p -> p.partitionIndex(), Errors.UNKNOWN_TOPIC_OR_PARTITION);
                continue;
            }
            var valid = new OffsetCommitRequestData.OffsetCommitRequestTopic().setTopicId(topic.topicId()).setName(topic.name());
            for (var p : topic.partitions()) {
                if (!topic.topicId().equals(Uuid.ZERO_UUID) && exists(topic.name(), p.partitionIndex())) valid.partitions().add(p);
                else builder.addPartition(topic.topicId(), topic.name(), p.partitionIndex(), Errors.UNKNOWN_TOPIC_OR_PARTITION);
            }
            if (!valid.partitions().isEmpty()) known.add(valid);
        }
        String g = r.data().groupId();
        if (known.isEmpty()) { answer(event, g, version, builder.build()); return; }
        var data = new OffsetCommitRequestData().setGroupId(g).setMemberId(r.data().memberId())
            .setGenerationIdOrMemberEpoch(r.data().generationIdOrMemberEpoch()).setRetentionTimeMs(r.data().retentionTimeMs())
            .setGroupInstanceId(r.data().groupInstanceId()).setTopics(known);
        service.commitOffsets(ctx, data, BufferSupplier.NO_CACHING).whenComplete((res, ex) -> answer(event, g, version,
            ex != null ? r.getErrorResponse(0, ex) : builder.merge(res).build()));
    }

    void commitInTransaction(JsonNode event, short version, RequestContext ctx, TxnOffsetCommitRequest r) {
        boolean ids = TxnOffsetCommitResponse.useTopicIds(version);
        TxnOffsetCommitResponse.Builder builder = TxnOffsetCommitResponse.newBuilder(ids);
        List<TxnOffsetCommitRequestData.TxnOffsetCommitRequestTopic> known = new ArrayList<>();
        for (var topic : r.data().topics()) {
            if (!topicsGiven && !ids) { if (!topic.partitions().isEmpty()) known.add(topic); continue; }
            if (ids) {
                var t = image.topics().getTopic(topic.topicId());
                if (t != null) topic.setName(t.name());
                if (topic.name().isEmpty()) {
                    builder.<TxnOffsetCommitRequestData.TxnOffsetCommitRequestPartition>addPartitions(topic.topicId(), topic.name(),
                        topic.partitions(), p -> p.partitionIndex(), Errors.UNKNOWN_TOPIC_ID);
                    continue;
                }
            } else {
                var t = image.topics().getTopic(topic.name());
                topic.setTopicId(t == null ? Uuid.ZERO_UUID : t.id());
            }
            if (!exists(topic.name(), 0)) {
                builder.<TxnOffsetCommitRequestData.TxnOffsetCommitRequestPartition>addPartitions(topic.topicId(), topic.name(),
                    topic.partitions(), p -> p.partitionIndex(), Errors.UNKNOWN_TOPIC_OR_PARTITION);
                continue;
            }
            var valid = new TxnOffsetCommitRequestData.TxnOffsetCommitRequestTopic().setTopicId(topic.topicId()).setName(topic.name());
            for (var p : topic.partitions()) {
                if (!topic.topicId().equals(Uuid.ZERO_UUID) && exists(topic.name(), p.partitionIndex())) valid.partitions().add(p);
                else builder.addPartition(topic.topicId(), topic.name(), p.partitionIndex(), Errors.UNKNOWN_TOPIC_OR_PARTITION);
            }
            if (!valid.partitions().isEmpty()) known.add(valid);
        }
        String g = r.data().groupId();
        if (known.isEmpty()) { answer(event, g, version, builder.build()); return; }
        var d = r.data();
        var data = new TxnOffsetCommitRequestData().setGroupId(g).setMemberId(d.memberId())
            .setGenerationIdOrMemberEpoch(d.generationIdOrMemberEpoch()).setGroupInstanceId(d.groupInstanceId())
            .setProducerEpoch(d.producerEpoch()).setProducerId(d.producerId()).setTransactionalId(d.transactionalId()).setTopics(known);
        service.commitTransactionalOffsets(ctx, data, BufferSupplier.NO_CACHING).whenComplete((res, ex) -> answer(event, g, version,
            ex != null ? r.getErrorResponse(0, ex) : builder.merge(res).build()));
    }

    void endTransaction(JsonNode event, JsonNode body) {
        String g = body.get("groupId").asText();
        markedGroup = g;
        TransactionResult result = body.get("committed").asBoolean() ? TransactionResult.COMMIT : TransactionResult.ABORT;
        service.completeTransaction(TP, body.get("producerId").asLong(), (short) (body.path("producerEpoch").asInt(0) + 1), 0, result, (short) 2)
            .whenComplete((res, ex) -> emitResponse(event, g, JSON.createObjectNode().put("throttleTimeMs", 0)
                .put("errorCode", ex == null ? 0 : Errors.forException(ex).code())));
    }

    void fetch(JsonNode event, short version, RequestContext ctx, OffsetFetchRequest r) {
        var group = r.groups().get(0);
        boolean ids = OffsetFetchRequest.useTopicIds(version);
        var errors = new ArrayList<OffsetFetchResponseData.OffsetFetchResponseTopics>();
        var asked = new OffsetFetchRequestData.OffsetFetchRequestGroup().setGroupId(group.groupId()).setMemberId(group.memberId())
            .setMemberEpoch(group.memberEpoch());
        if (group.topics() == null) {
            asked.setTopics(null);
        } else {
            var topics = new ArrayList<OffsetFetchRequestData.OffsetFetchRequestTopics>();
            for (var topic : group.topics()) {
                if (ids) {
                    var t = image.topics().getTopic(topic.topicId());
                    if (t == null) {
                        var e = new OffsetFetchResponseData.OffsetFetchResponseTopics().setTopicId(topic.topicId());
                        topic.partitionIndexes().forEach(p -> e.partitions().add(new OffsetFetchResponseData.OffsetFetchResponsePartitions()
                            .setPartitionIndex(p).setCommittedOffset(-1).setErrorCode(Errors.UNKNOWN_TOPIC_ID.code())));
                        errors.add(e);
                        continue;
                    }
                    topic.setName(t.name());
                }
                topics.add(topic);
            }
            asked.setTopics(topics);
        }
        service.fetchOffsets(ctx, asked, r.requireStable()).whenComplete((res, ex) -> {
            var result = ex != null ? OffsetFetchResponse.groupError(group, Errors.forException(ex), version) : res;
            if (result.errorCode() == 0) {
                var all = new ArrayList<>(result.topics());
                if (ids && group.topics() == null) {
                    all.removeIf(t -> {
                        if (t.topicId().equals(Uuid.ZERO_UUID)) {
                            var known = image.topics().getTopic(t.name());
                            if (known != null) t.setTopicId(known.id());
                        }
                        return t.topicId().equals(Uuid.ZERO_UUID);
                    });
                }
                all.addAll(errors);
                result.setTopics(all);
            }
            answer(event, group.groupId(), version, new OffsetFetchResponse.Builder(List.of(result)).build(version));
        });
    }

    void delete(JsonNode event, short version, RequestContext ctx, OffsetDeleteRequest r) {
        OffsetDeleteResponse.Builder builder = new OffsetDeleteResponse.Builder();
        var known = new OffsetDeleteRequestData.OffsetDeleteRequestTopicCollection();
        for (var topic : r.data().topics()) {
            if (topicsGiven && !exists(topic.name(), 0)) {
                builder.<OffsetDeleteRequestData.OffsetDeleteRequestPartition>addPartitions(topic.name(),
                    topic.partitions(), p -> p.partitionIndex(), Errors.UNKNOWN_TOPIC_OR_PARTITION);
                continue;
            }
            var valid = new OffsetDeleteRequestData.OffsetDeleteRequestTopic().setName(topic.name());
            for (var p : topic.partitions()) {
                if (!topicsGiven || exists(topic.name(), p.partitionIndex())) valid.partitions().add(p);
                else builder.addPartition(topic.name(), p.partitionIndex(), Errors.UNKNOWN_TOPIC_OR_PARTITION);
            }
            if (!valid.partitions().isEmpty()) known.add(valid);
        }
        var data = new OffsetDeleteRequestData().setGroupId(r.data().groupId()).setTopics(known);
        service.deleteOffsets(ctx, data, BufferSupplier.NO_CACHING).whenComplete((res, ex) -> answer(event, r.data().groupId(), version,
            ex != null ? r.getErrorResponse(0, ex) : builder.merge(res).build()));
    }

    void configs(JsonNode event, String api, short version, JsonNode body) {
        JsonNode resource = body.get("resources").get(0);
        String group = resource.get("resourceName").asText();
        ObjectNode result = JSON.createObjectNode();
        result.put("resourceType", 32);
        result.put("resourceName", group);
        if (api.equals("IncrementalAlterConfigs")) {
            Properties props = new Properties();
            props.putAll(groupProps.getOrDefault(group, new Properties()));
            for (JsonNode c : resource.get("configs")) {
                if (c.path("configOperation").asInt(0) == 1) props.remove(c.get("name").asText());
                else props.put(c.get("name").asText(), c.get("value").asText());
            }
            short error = 0;
            String message = null;
            try {
                Map<String, String> map = new HashMap<>();
                props.forEach((k, v) -> map.put((String) k, (String) v));
                GroupConfig.validate(map, config, shareConfig);
                groupConfigs.updateGroupConfig(group, props);
                groupProps.put(group, props);
            } catch (Exception e) {
                error = Errors.forException(e).code();
                message = e.getMessage();
            }
            result.put("errorCode", error);
            result.put("errorMessage", message);
            ObjectNode b = JSON.createObjectNode().put("throttleTimeMs", 0);
            b.set("responses", JSON.createArrayNode().add(result));
            emitResponse(event, group, b);
        } else {
            emitKind("deadLetter", "DescribeConfigs is not in the oracle");
        }
    }

    // ------------------------------------------------------------------ topics, describe
    void topics(JsonNode list) {
        topicsGiven = true;
        MetadataDelta delta = new MetadataDelta.Builder().setImage(image).build();
        if (image.cluster().brokers().isEmpty())
            delta.replay(new RegisterBrokerRecord().setBrokerId(0));
        for (JsonNode t : list) for (JsonNode partition : t.path("racks")) for (JsonNode rack : partition)
            if (!brokerOf.containsKey(rack.asText())) {
                brokerOf.put(rack.asText(), brokerOf.size() + 1);
                delta.replay(new RegisterBrokerRecord().setBrokerId(brokerOf.size()).setRack(rack.asText()));
            }
        Map<String, JsonNode> wanted = new LinkedHashMap<>();
        for (JsonNode t : list) wanted.put(t.get("name").asText(), t);
        Set<String> keep = new HashSet<>();
        for (var t : image.topics().topicsByName().values()) {
            JsonNode w = wanted.get(t.name());
            if (w == null || !Uuid.fromString(w.get("topicId").asText()).equals(t.id()))
                delta.replay(new RemoveTopicRecord().setTopicId(t.id()));
            else keep.add(t.name());
        }
        // A re-created topic takes two images, as it does on a cluster: first gone, then there.
        boolean recreated = wanted.keySet().stream().anyMatch(n -> !keep.contains(n) && image.topics().getTopic(n) != null);
        if (recreated) {
            apply(delta);
            delta = new MetadataDelta.Builder().setImage(image).build();
        }
        for (JsonNode t : wanted.values()) {
            Uuid id = Uuid.fromString(t.get("topicId").asText());
            String name = t.get("name").asText();
            int n = t.get("numPartitions").asInt();
            int from = 0;
            if (keep.contains(name)) {
                from = image.topics().getTopic(name).partitions().size();
                for (int i = 0; i < Math.min(from, n); i++) {
                    List<Integer> replicas = replicas(t, i);
                    if (!replicas.equals(Replicas.toList(image.topics().getTopic(name).partitions().get(i).replicas)))
                        delta.replay(new PartitionChangeRecord().setTopicId(id).setPartitionId(i).setReplicas(replicas).setIsr(replicas));
                }
            } else delta.replay(new TopicRecord().setTopicId(id).setName(name));
            for (int i = from; i < n; i++)
                delta.replay(new PartitionRecord().setTopicId(id).setPartitionId(i)
                    .setReplicas(replicas(t, i)).setIsr(replicas(t, i)).setLeader(replicas(t, i).get(0)));
        }
        apply(delta);
    }

    /** A broker for each rack that the partition is said to be in; one without a rack where nothing is said. */
    List<Integer> replicas(JsonNode topic, int partition) {
        List<Integer> brokers = new ArrayList<>();
        for (JsonNode rack : topic.path("racks").path(partition)) brokers.add(brokerOf.get(rack.asText()));
        return brokers.isEmpty() ? List.of(0) : brokers;
    }

    void apply(MetadataDelta delta) {
        image = delta.apply(new MetadataProvenance(++imageVersion, 0, time.now, true));
        service.onMetadataUpdate(delta, image);
    }

    void describe(String group) throws Exception {
        RequestContext ctx = new RequestContext(new RequestHeader(ApiKeys.LIST_GROUPS, (short) 5, "oracle", 1), "c",
            InetAddress.getLoopbackAddress(), KafkaPrincipal.ANONYMOUS, ListenerName.normalised("PLAINTEXT"), SecurityProtocol.PLAINTEXT,
            ClientInformation.EMPTY, false);
        ObjectNode node = JSON.createObjectNode();
        node.put("kind", "group");
        node.put("groupId", group);
        ArrayNode members = JSON.createArrayNode();
        var listed = service.listGroups(ctx, new ListGroupsRequestData()).get().groups().stream()
            .filter(g -> g.groupId().equals(group)).findFirst().orElse(null);
        if (listed == null) {
            node.put("state", "Dead");
            node.set("members", members);
            node.set("offsets", JSON.createArrayNode());
            emit(node);
            return;
        }
        node.put("type", listed.groupType().toLowerCase(Locale.ROOT));
        node.put("state", listed.groupState());
        node.put("protocolType", listed.protocolType());
        if (listed.groupType().equalsIgnoreCase("consumer")) {
            var d = service.consumerGroupDescribe(ctx, List.of(group)).get().get(0);
            node.put("protocol", d.assignorName());
            node.put("generationOrEpoch", d.groupEpoch());
            for (var m : d.members()) members.add(JSON.createObjectNode().put("memberId", m.memberId()).put("groupInstanceId", m.instanceId()));
        } else {
            var d = service.describeGroups(ctx, List.of(group)).get().get(0);
            node.put("protocol", d.protocolData());
            for (var m : d.members()) members.add(JSON.createObjectNode().put("memberId", m.memberId()).put("groupInstanceId", m.groupInstanceId()));
        }
        node.set("members", members);
        ArrayNode offsets = JSON.createArrayNode();
        var fetched = service.fetchOffsets(ctx, new OffsetFetchRequestData.OffsetFetchRequestGroup().setGroupId(group).setTopics(null), false).get();
        for (var t : fetched.topics()) for (var p : t.partitions())
            offsets.add(JSON.createObjectNode().put("topic", t.name()).put("partition", p.partitionIndex()).put("offset", p.committedOffset())
                .put("committedOffset", p.committedOffset()));
        node.set("offsets", offsets);
        emit(node);
    }

    /** What the coordinator has counted since it began, by the beginning of the meter's name. */
    void meters() {
        ObjectNode counts = JSON.createObjectNode();
        if (metrics != null) metrics.metrics().forEach((name, metric) -> {
            if (name.group().equals("group-coordinator-metrics") && name.name().endsWith("-count") && name.tags().isEmpty()
                && metric.metricValue() instanceof Double count && count > 0)
                counts.put(name.name().substring(0, name.name().length() - "-count".length()), count.longValue());
        });
        ObjectNode node = JSON.createObjectNode();
        node.put("kind", "meters");
        node.set("counts", counts);
        emit(node);
    }

    // ------------------------------------------------------------------ lines
    void line(String text) throws Exception {
        JsonNode node = JSON.readTree(text);
        if (node.has("describe")) {
            start(time.now);
            describe(node.get("describe").asText());
            return;
        }
        if (node.has("meters")) {
            meters();
            return;
        }
        long at = node.get("at").asLong();
        start(at);
        if (at < time.now) { emitKind("error", "time goes back"); return; }
        timer.advanceTo(at);
        if (node.has("topics")) topics(node.get("topics"));
        if (node.has("event")) {
            try {
                event(node.get("event"));
            } catch (IllegalArgumentException | ClassNotFoundException e) {
                emitKind("deadLetter", e.toString());
            }
        }
        timer.advanceTo(at);
    }

    public static void main(String[] args) throws Exception {
        java.security.Security.insertProviderAt(new IdProvider(), 1);
        Map<String, String> settings = new LinkedHashMap<>();
        for (int i = 0; i < args.length; i++)
            if (args[i].equals("--set")) {
                String[] kv = args[++i].split("=", 2);
                settings.put(kv[0], kv[1]);
            }
        PrintStream out = new PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), false, StandardCharsets.UTF_8);
        System.setOut(System.err);  // whatever Kafka logs
        KafkaOracle oracle = new KafkaOracle(settings, out);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String text;
        while ((text = in.readLine()) != null) {
            if (text.isBlank()) continue;
            try {
                JsonNode node = JSON.readTree(text);
                JsonNode fresh = node.get("settings");
                if (fresh != null) Ids.begin(node.path("ids").textValue());
                else Ids.nextLine();
                if (fresh != null) oracle = new KafkaOracle(JSON.convertValue(fresh, new TypeReference<Map<String, String>>() { }), out);
                else if (node.has("restart")) oracle = oracle.successor(node);
                else oracle.line(text);
            } catch (Throwable t) {
                t.printStackTrace();
                oracle.emitKind("error", t.toString());
            }
            out.print("{\"kind\":\"done\"}\n");
            out.flush();
        }
    }
}
