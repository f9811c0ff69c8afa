import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The lines between the runner and a program, as grouplab/server/e2e/clients/agent describes them. */
final class Lines {
    /** Does one step and returns the fields of its reply. */
    interface Steps {
        Map<String, Object> take(Map<String, String> request) throws Exception;
    }

    private static final Pattern FIELD = Pattern.compile("\"(\\w+)\":(?:\"((?:[^\"\\\\]|\\\\.)*)\"|(-?\\d+))");
    private static final String FILLING = "the quick brown fox ".repeat(20);

    static void serve(Steps steps) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; ) {
            Map<String, String> request = new HashMap<>();
            for (Matcher m = FIELD.matcher(line); m.find(); ) {
                request.put(m.group(1), m.group(2) != null ? m.group(2) : m.group(3));
            }
            Map<String, Object> reply;
            try {
                reply = steps.take(request);
            } catch (UnsupportedOperationException e) {
                reply = Map.of("Missing", e.getMessage());
            } catch (Throwable e) {
                e.printStackTrace();
                reply = Map.of("Error", e.toString());
            }
            System.out.println(json(reply));
        }
        System.exit(0);
    }

    static String value(String kind, int i) {
        return kind + "-" + i + " " + FILLING;
    }

    static String name(String value) {
        int space = value.indexOf(' ');
        String name = space < 0 ? value : value.substring(0, space);
        return space >= 0 && value.substring(space + 1).equals(FILLING) ? name : name + ": its text is not what was sent";
    }

    private static String json(Object value) {
        if (value instanceof Map<?, ?> map) {
            return map.entrySet().stream().map(e -> json(e.getKey().toString()) + ":" + json(e.getValue()))
                .collect(Collectors.joining(",", "{", "}"));
        }
        if (value instanceof Collection<?> all) {
            return all.stream().map(Lines::json).collect(Collectors.joining(",", "[", "]"));
        }
        if (value instanceof Number) {
            return value.toString();
        }
        StringBuilder text = new StringBuilder("\"");
        for (char c : value.toString().toCharArray()) {
            text.append(c == '"' || c == '\\' ? "\\" + c : c < ' ' ? " " : c);
        }
        return text.append('"').toString();
    }
}
