package org.apache.kafka.coordinator.group;

// Kafka's own requests and responses behind JSON lines: the generated classes and JSON converters of the 4.4.0 jars.
// ../../wire holds our codec against them. Compiled with plain javac (../coordinators.py).
//
// {"message": "OffsetCommitRequest", "version", "body": JSON}: the bytes that Kafka writes
// {"message", "version", "hex"}: what Kafka reads in these bytes
// {"frame": HEX}: what a broker reads in a request with its header
// -> {"kind": "written", "hex"}, {"kind": "read", "body", "size"}, {"kind": "request", "header", "headerSize", "body"}
// or {"kind": "error", "why"}, then {"kind": "done"}.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.apache.kafka.common.message.RequestHeaderDataJsonConverter;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.protocol.Readable;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.RequestHeader;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

public class KafkaWire {
    static final ObjectMapper JSON = new ObjectMapper();
    static final HexFormat HEX = HexFormat.of();

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

    static ObjectNode answer(JsonNode asked) throws ReflectiveOperationException {
        try {
            if (asked.has("frame")) return request(bytes(asked.get("frame")));
            String name = asked.get("message").asText();
            short version = (short) asked.get("version").asInt();
            return asked.has("body") ? written(name, version, asked.get("body")) : read(name, version, bytes(asked.get("hex")));
        } catch (InvocationTargetException e) {
            return error(e.getCause());
        } catch (RuntimeException e) {
            return error(e);
        }
    }

    static ObjectNode written(String name, short version, JsonNode body) throws ReflectiveOperationException {
        Message message = (Message) converter(name).getMethod("read", JsonNode.class, short.class).invoke(null, body, version);
        ByteBuffer written = MessageUtil.toByteBufferAccessor(message, version).buffer();
        byte[] bytes = new byte[written.remaining()];
        written.get(bytes);
        return JSON.createObjectNode().put("kind", "written").put("hex", HEX.formatHex(bytes));
    }

    static ObjectNode read(String name, short version, ByteBuffer bytes) throws ReflectiveOperationException {
        Message message = (Message) data(name).getConstructor(Readable.class, short.class).newInstance(new ByteBufferAccessor(bytes), version);
        ObjectNode answer = JSON.createObjectNode().put("kind", "read").put("size", bytes.position());
        return answer.set("body", json(name, message, version));
    }

    static ObjectNode request(ByteBuffer frame) throws ReflectiveOperationException {
        RequestHeader header = RequestHeader.parse(frame);
        ObjectNode answer = JSON.createObjectNode().put("kind", "request").put("headerSize", frame.position());
        answer.set("header", RequestHeaderDataJsonConverter.write(header.data(), header.headerVersion()));
        Message body = AbstractRequest.parseRequest(header.apiKey(), header.apiVersion(), new ByteBufferAccessor(frame)).request.data();
        return answer.set("body", json(header.apiKey().name + "Request", body, header.apiVersion()));
    }

    static JsonNode json(String name, Message message, short version) throws ReflectiveOperationException {
        return (JsonNode) converter(name).getMethod("write", data(name), short.class).invoke(null, message, version);
    }

    static Class<?> data(String name) throws ClassNotFoundException {
        return Class.forName("org.apache.kafka.common.message." + name + "Data");
    }

    static Class<?> converter(String name) throws ClassNotFoundException {
        return Class.forName("org.apache.kafka.common.message." + name + "DataJsonConverter");
    }

    static ObjectNode error(Throwable e) {
        return JSON.createObjectNode().put("kind", "error").put("why", String.valueOf(e));
    }

    static ByteBuffer bytes(JsonNode hex) {
        return ByteBuffer.wrap(HEX.parseHex(hex.asText()));
    }
}
