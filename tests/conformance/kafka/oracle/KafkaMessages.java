package org.apache.kafka.coordinator.group;

// Kafka's own writer and reader of __consumer_offsets behind JSON lines: GroupCoordinatorRecordSerde and the JSON converters of
// the 4.4.0 jars, as the coordinator and kafka-console-consumer's formatters use them. ../../offsets_topic holds our decoder
// against them. Compiled with plain javac (../coordinators.py).
//
// {"type", "version", "key": JSON, "value": JSON or null}: what Kafka writes, and prints when it reads that again;
// {"key": HEX, "value": HEX or null}: what Kafka prints when it reads these bytes
// -> {"kind": "message", "key": HEX, "value": HEX or null, "json": {"key": {"type", "data"}, "value": {"version", "data"} or null}}
// or {"kind": "error", "fault": "type", "version" or "damage", "message"}, then {"kind": "done"}.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.Deserializer.UnknownRecordTypeException;
import org.apache.kafka.coordinator.common.runtime.Deserializer.UnknownRecordVersionException;
import org.apache.kafka.coordinator.group.generated.CoordinatorRecordJsonConverters;
import org.apache.kafka.server.common.ApiMessageAndVersion;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

public class KafkaMessages {
    static final ObjectMapper JSON = new ObjectMapper();
    static final HexFormat HEX = HexFormat.of();
    static final GroupCoordinatorRecordSerde SERDE = new GroupCoordinatorRecordSerde();

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode message = JSON.readTree(line);
            out.println(message.has("type") ? written(message) : read(bytes(message.get("key")), bytes(message.get("value"))));
            out.println("{\"kind\": \"done\"}");
            out.flush();
        }
    }

    static ObjectNode written(JsonNode message) {
        short type = (short) message.get("type").asInt(), version = (short) message.get("version").asInt();
        ApiMessage key = CoordinatorRecordJsonConverters.readRecordKeyFromJson(message.get("key"), type);
        if (message.get("value").isNull()) return read(SERDE.serializeKey(CoordinatorRecord.tombstone(key)), null);
        ApiMessage value = CoordinatorRecordJsonConverters.readRecordValueFromJson(message.get("value"), type, version);
        CoordinatorRecord record = CoordinatorRecord.record(key, new ApiMessageAndVersion(value, version));
        return read(SERDE.serializeKey(record), SERDE.serializeValue(record));
    }

    static ObjectNode read(byte[] key, byte[] value) {
        CoordinatorRecord record;
        try {
            record = SERDE.deserialize(ByteBuffer.wrap(key), value == null ? null : ByteBuffer.wrap(value));
        } catch (UnknownRecordTypeException e) {
            return error("type", e);
        } catch (UnknownRecordVersionException e) {
            return error("version", e);
        } catch (RuntimeException e) {
            return error("damage", e);
        }
        ObjectNode answer = JSON.createObjectNode().put("kind", "message").put("key", HEX.formatHex(key));
        answer.put("value", value == null ? null : HEX.formatHex(value));
        ObjectNode json = answer.putObject("json");
        json.putObject("key").put("type", record.key().apiKey()).set("data", CoordinatorRecordJsonConverters.writeRecordKeyAsJson(record.key()));
        json.putNull("value");
        if (value != null) {
            short version = record.value().version();
            json.putObject("value").put("version", version)
                .set("data", CoordinatorRecordJsonConverters.writeRecordValueAsJson(record.value().message(), version));
        }
        return answer;
    }

    static ObjectNode error(String fault, RuntimeException e) {
        return JSON.createObjectNode().put("kind", "error").put("fault", fault).put("message", String.valueOf(e.getMessage()));
    }

    static byte[] bytes(JsonNode hex) {
        return hex.isNull() ? null : HEX.parseHex(hex.asText());
    }
}
