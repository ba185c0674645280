package peers;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.utils.Exit;

/**
 * Kafka's command line tools in one process: a line names a tool's class, its arguments and its input; the answer is what
 * it printed, altogether and on each stream, and its exit status.
 */
public final class KafkaTools {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** What a tool prints after its exit is about the exception in place of the end. */
    private static final class Exited extends Error {
        Exited() {
            super(null, null, false, false);
        }
    }

    private static final ByteArrayOutputStream SAID = new ByteArrayOutputStream();
    private static final ByteArrayOutputStream OUT = new ByteArrayOutputStream();
    private static final ByteArrayOutputStream ERR = new ByteArrayOutputStream();
    /** The console producer sends what it has when its process ends. */
    private static final List<Runnable> HOOKS = new ArrayList<>();
    private static Map<String, Object> end;

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Exit.setExitProcedure((status, message) -> exit(status));
        Exit.setHaltProcedure((status, message) -> exit(status));
        Exit.setShutdownHookAdder((name, hook) -> HOOKS.add(hook));
        System.setOut(into(OUT));
        System.setErr(into(ERR));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            run(JSON.readTree(line));
            answers.println(JSON.writeValueAsString(end));
            answers.println("{\"kind\": \"done\"}");
            answers.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private static PrintStream into(OutputStream own) {
        OutputStream both = new OutputStream() {
            @Override
            public void write(int one) throws IOException {
                SAID.write(one);
                own.write(one);
            }
        };
        return new PrintStream(both, true, StandardCharsets.UTF_8);
    }

    private static void exit(int status) {
        end(status);
        throw new Exited();
    }

    private static void end(int status) {
        if (end == null) {
            HOOKS.forEach(Runnable::run);
            end = Map.of(
                "kind", "said",
                "status", status,
                "text", SAID.toString(StandardCharsets.UTF_8),
                "out", OUT.toString(StandardCharsets.UTF_8),
                "err", ERR.toString(StandardCharsets.UTF_8));
        }
    }

    private static void run(JsonNode asked) throws Exception {
        SAID.reset();
        OUT.reset();
        ERR.reset();
        HOOKS.clear();
        end = null;
        System.setIn(new ByteArrayInputStream(asked.get("input").asText().getBytes(StandardCharsets.UTF_8)));
        String[] arguments = JSON.convertValue(asked.get("arguments"), String[].class);
        try {
            Class.forName(asked.get("tool").asText()).getMethod("main", String[].class).invoke(null, (Object) arguments);
            end(0);
        } catch (InvocationTargetException failure) {
            System.err.println(failure.getCause());
            end(1);
        }
    }
}
