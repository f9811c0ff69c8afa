import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;

/** What brokers that are locked want, as grouplab/server/e2e/clients/agent describes it; empty for others. */
final class Security {
    static Map<String, String> properties() throws IOException {
        Map<String, String> env = System.getenv();
        Map<String, String> set = new HashMap<>();
        if (env.getOrDefault("KAFKA_TLS_CA", "").isEmpty()) {
            return set;
        }
        String mechanism = env.get("KAFKA_SASL_MECHANISM");
        set.put("security.protocol", mechanism.isEmpty() ? "SSL" : "SASL_SSL");
        set.put("ssl.truststore.type", "PEM");
        set.put("ssl.truststore.location", env.get("KAFKA_TLS_CA"));
        if (!env.get("KAFKA_TLS_CERT").isEmpty()) {
            set.put("ssl.keystore.type", "PEM");
            set.put("ssl.keystore.certificate.chain", Files.readString(Path.of(env.get("KAFKA_TLS_CERT"))));
            set.put("ssl.keystore.key", Files.readString(Path.of(env.get("KAFKA_TLS_KEY"))));
        }
        if (!mechanism.isEmpty()) {
            String module = mechanism.equals("PLAIN") ? "plain.PlainLoginModule" : "scram.ScramLoginModule";
            set.put("sasl.mechanism", mechanism);
            set.put("sasl.jaas.config", "org.apache.kafka.common.security." + module + " required username=\"" + env.get("KAFKA_SASL_USER")
                + "\" password=\"" + env.get("KAFKA_SASL_PASSWORD") + "\";");
        }
        return set;
    }

    /** What caused an error that a future ended with, in the client's words, each once. */
    static String words(Throwable e) {
        Set<String> all = new LinkedHashSet<>();
        for (Throwable c = e instanceof ExecutionException ? e.getCause() : e; c != null; c = c.getCause()) {
            all.add(c.getClass().getSimpleName() + ": " + c.getMessage());
        }
        return String.join("; ", all);
    }
}
