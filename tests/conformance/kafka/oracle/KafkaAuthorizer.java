package org.apache.kafka.coordinator.group;

// Kafka's own authorizer behind JSON lines: StandardAuthorizer of the 4.4.0 jars, as brokers have it. ../../test_authorizer.py holds
// ours against it. Compiled with plain javac (../coordinators.py).
//
// [{"superUsers": [PRINCIPAL...], "allowEveryone": BOOLEAN, "rules": [[TYPE, NAME, PATTERN, PRINCIPAL, HOST, OPERATION, PERMISSION]...],
//   "questions": [[PRINCIPAL, ADDRESS, OPERATION, TYPE, NAME]...]}...]
// -> {"kind": "answers", "answers": [[true or false...]...]}, then {"kind": "done"}.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.internals.PluginMetricsImpl;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.utils.internals.SecurityUtils;
import org.apache.kafka.metadata.authorizer.StandardAcl;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.*;

public class KafkaAuthorizer {
    static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        AUTHORIZER.withPluginMetrics(new PluginMetricsImpl(new Metrics(), Map.of()));
        AUTHORIZER.completeInitialLoad();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            ObjectNode output = JSON.createObjectNode().put("kind", "answers");
            ArrayNode answers = output.putArray("answers");
            for (JsonNode asked : JSON.readTree(line)) answers.add(answers(asked));
            out.println(output);
            out.println("{\"kind\": \"done\"}");
            out.flush();
        }
    }

    static ArrayNode answers(JsonNode asked) throws Exception {
        ArrayNode answers = JSON.createArrayNode();
        learn(asked);
        for (JsonNode q : asked.get("questions")) {
            ResourcePattern resource = new ResourcePattern(ResourceType.valueOf(q.get(3).asText()), q.get(4).asText(), PatternType.LITERAL);
            Action action = new Action(AclOperation.valueOf(q.get(2).asText()), resource, 1, false, false);
            Caller caller = new Caller(SecurityUtils.parseKafkaPrincipal(q.get(0).asText()), InetAddress.getByName(q.get(1).asText()));
            answers.add(AUTHORIZER.authorize(caller, List.of(action)).get(0) == AuthorizationResult.ALLOWED);
        }
        return answers;
    }

    static final StandardAuthorizer AUTHORIZER = new StandardAuthorizer();

    static void learn(JsonNode asked) {
        List<String> superUsers = new ArrayList<>();
        asked.get("superUsers").forEach(user -> superUsers.add(user.asText()));
        AUTHORIZER.configure(Map.of(
            "node.id", "1",
            StandardAuthorizer.SUPER_USERS_CONFIG, String.join(";", superUsers),
            StandardAuthorizer.ALLOW_EVERYONE_IF_NO_ACL_IS_FOUND_CONFIG, asked.get("allowEveryone").asText()));
        Map<Uuid, StandardAcl> rules = new HashMap<>();
        for (JsonNode rule : asked.get("rules")) rules.put(Uuid.randomUuid(), rule(rule));
        AUTHORIZER.loadSnapshot(rules);
    }

    static StandardAcl rule(JsonNode rule) {
        return new StandardAcl(
            ResourceType.valueOf(rule.get(0).asText()), rule.get(1).asText(), PatternType.valueOf(rule.get(2).asText()),
            rule.get(3).asText(), rule.get(4).asText(), AclOperation.valueOf(rule.get(5).asText()), AclPermissionType.valueOf(rule.get(6).asText()));
    }

    record Caller(KafkaPrincipal principal, InetAddress clientAddress) implements AuthorizableRequestContext {
        public String listenerName() { return "CLIENTS"; }
        public SecurityProtocol securityProtocol() { return SecurityProtocol.SASL_SSL; }
        public int requestType() { return 0; }
        public int requestVersion() { return 0; }
        public String clientId() { return "client"; }
        public int correlationId() { return 0; }
    }
}
