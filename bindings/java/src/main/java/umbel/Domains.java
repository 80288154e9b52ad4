// SPDX-License-Identifier: MIT

package umbel;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Set;

/**
 * From a text to the name that is looked up, as docs/recipes.md says under "Hosts and URLs". Within this class a
 * byte is a character of ISO 8859-1.
 */
final class Domains {
    private static final int LONGEST = 253;
    private static final Set<String> SPECIAL = Set.of("", "http", "https", "ws", "wss", "ftp", "file");
    private static final String WHITE = " \t\n\u000b\f\r";

    private Domains() {}

    /** The name that is looked up first; it is empty if there is none. */
    static byte[] nameOf(byte[] text) {
        String name = hostOf(new String(text, StandardCharsets.ISO_8859_1));
        int from = 0;
        int to = name.length();
        while (from < to && WHITE.indexOf(name.charAt(from)) >= 0) {
            from++;
        }
        while (to > from && WHITE.indexOf(name.charAt(to - 1)) >= 0) {
            to--;
        }
        while (to > from && name.charAt(to - 1) == '.') {
            to--;
        }
        byte[] bytes = lastLabels(name.substring(from, to)).getBytes(StandardCharsets.ISO_8859_1);
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] += bytes[i] >= 'A' && bytes[i] <= 'Z' ? 'a' - 'A' : 0;
        }
        return bytes;
    }

    /** The name without its first label. */
    static byte[] parentOf(byte[] name) {
        int dot = 0;
        while (dot < name.length && name[dot] != '.') {
            dot++;
        }
        return java.util.Arrays.copyOfRange(name, Math.min(dot + 1, name.length), name.length);
    }

    /** The longest end of a text that is a name: whoever owns a listed domain chooses the labels below it. */
    private static String lastLabels(String text) {
        int from = text.length();
        int labelEnd = from;
        for (int i = from - 1; i >= 0 && text.length() - i <= LONGEST; i--) {
            char c = text.charAt(i);
            if (c <= ' ' || c == 0x7f || c == '.' && i + 1 == labelEnd) {
                break;
            }
            if (c == '.') {
                labelEnd = i;
            } else if (i == 0 || text.charAt(i - 1) == '.') {
                from = i;
            }
        }
        return text.substring(from);
    }

    private static String hostOf(String text) {
        text = text.trim(); // all up to U+0020
        if (text.length() >= 2 && text.startsWith("<") && text.endsWith(">")) {
            text = text.substring(1, text.length() - 1);
        }
        String host = hostOfUrl(text.replaceAll("[\t\n\r]", ""));
        return host != null ? host : hostOfAuthority(before(text, "/?#"));
    }

    /** Null if it is not a URL. */
    private static String hostOfUrl(String text) {
        String scheme = schemeOf(text);
        String rest = scheme.isEmpty() ? text : text.substring(scheme.length() + 1);
        boolean special = SPECIAL.contains(scheme);
        boolean file = scheme.equals("file");
        int slashes = 0;
        if (special) {
            while (slashes < rest.length() && "/\\".indexOf(rest.charAt(slashes)) >= 0 && (!file || slashes < 2)) {
                slashes++;
            }
        } else if (rest.startsWith("//")) {
            slashes = 2;
        }
        if ((scheme.isEmpty() || !special) && slashes < 2) {
            return null;
        }
        if (file && slashes < 2) {
            return "";
        }
        String host = hostOfAuthority(before(rest.substring(slashes), special ? "/\\?#" : "/?#"));
        return special ? percentDecoded(host) : host;
    }

    /** The scheme that a text begins with, in lower case, or nothing. */
    private static String schemeOf(String text) {
        int i = 0;
        while (i < text.length() && (isLetter(text.charAt(i)) || i > 0 && isFurther(text.charAt(i)))) {
            i++;
        }
        return i < text.length() && text.charAt(i) == ':' ? text.substring(0, i).toLowerCase(Locale.ROOT) : "";
    }

    private static boolean isLetter(char c) {
        return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z';
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    private static boolean isFurther(char c) {
        return isDigit(c) || "+-.".indexOf(c) >= 0;
    }

    private static String hostOfAuthority(String text) {
        text = withoutPort(text.substring(text.lastIndexOf('@') + 1));
        boolean bracketed = text.length() >= 2 && text.startsWith("[") && text.endsWith("]");
        return bracketed ? text.substring(1, text.length() - 1) : text;
    }

    /** Leaves IPv6 addresses without brackets alone. */
    private static String withoutPort(String text) {
        boolean twoColons = text.indexOf(':') != text.lastIndexOf(':');
        if (twoColons && text.indexOf('.') < 0 && !text.startsWith("[")) {
            return text;
        }
        while (true) {
            int n = text.length();
            while (n > 0 && isDigit(text.charAt(n - 1))) {
                n--;
            }
            if (n == 0 || text.charAt(n - 1) != ':') {
                return text;
            }
            text = text.substring(0, n - 1);
        }
    }

    private static String before(String text, String ends) {
        int i = 0;
        while (i < text.length() && ends.indexOf(text.charAt(i)) < 0) {
            i++;
        }
        return text.substring(0, i);
    }

    private static String percentDecoded(String text) {
        StringBuilder decoded = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '%' && i + 2 < text.length()) {
                int high = hexDigit(text.charAt(i + 1));
                int low = hexDigit(text.charAt(i + 2));
                if (high >= 0 && low >= 0) {
                    c = (char) (high << 4 | low);
                    i += 2;
                }
            }
            decoded.append(c);
        }
        return decoded.toString();
    }

    /** Of ASCII only: Character.digit knows more digits. */
    private static int hexDigit(char c) {
        return c < 0x80 ? Character.digit(c, 16) : -1;
    }
}
