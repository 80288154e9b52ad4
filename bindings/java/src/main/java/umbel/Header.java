// SPDX-License-Identifier: MIT

package umbel;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** What docs/formats/native.md says is in a file's header, each field checked. */
final class Header {
    private static final int FIXED = 128;
    private static final int HEADER_MAX = 1 << 20;
    private static final int PAGE = 4096;
    private static final int EXCEPTIONS_MAX = 64_000;
    private static final int ENTRIES_MAX = 1024;
    private static final int METADATA_MAX = 512 << 10;
    private static final byte[] MAGIC = {'U', 'M', 'B', 'E', 'L', 0x1a, '\r', '\n'};

    final Kind kind;
    final long seed;
    final long payloadAt;
    final long payloadLength;
    final boolean domains;
    /** Ascending as signed numbers: the highest bit is inverted. */
    final long[] exceptions;
    private final long bits;
    private final long sum;

    /** Reads and checks what comes before the payload of a file of this many bytes. */
    static Header read(ReadAt file, long size) throws IOException {
        byte[] head = Payload.read(file, 0, (int) Math.min(Math.max(size, 0), PAGE));
        insist(head.length >= MAGIC.length, "magic");
        for (int i = 0; i < MAGIC.length; i++) {
            insist(head[i] == MAGIC[i], "magic");
        }
        insist(size >= FIXED + 8, "the header is cut off");
        ByteBuffer fields = Payload.littleEndian(head);
        int version = fields.getShort(8) & 0xffff;
        support(version == 1 || version == 2, "version " + version);
        int length = fields.getInt(12);
        insist(length >= FIXED + 8 && length <= Math.min(size, HEADER_MAX) && length % 8 == 0, "header length");
        if (length > head.length) {
            head = Payload.read(file, 0, length);
        }
        Header header = new Header(head, length, size);
        insist(isZero(head, length, head.length), "padding");
        if (head.length < header.payloadAt) {
            byte[] padding = Payload.read(file, head.length, (int) (header.payloadAt - head.length));
            insist(isZero(padding, 0, padding.length), "padding");
        }
        return header;
    }

    /** Checks the fields against each other and against the file's size. */
    private Header(byte[] head, int length, long size) throws IOException {
        ByteBuffer fields = Payload.littleEndian(head);
        int end = length - 8;
        sum = fields.getLong(end);
        insist(Xxh3.hash(head, 0, end, 0) == sum, "header checksum");
        insist(fields.getShort(10) == 0 && fields.getShort(90) == 0, "reserved bytes");
        insist((fields.getInt(24) == 2) == (fields.getLong(40) != 0), "secret fingerprint");
        double rate = fields.getDouble(64);
        insist(rate >= 0 && rate < 1 && fields.getLong(64) >= 0, "rate");
        int count = fields.getInt(92);
        insist(count >= 0 && count <= EXCEPTIONS_MAX && (head[8] == 2) == (count != 0), "exceptions");
        insist(head[89] == 0 || head[89] == 1 && count != 0, "exceptions");
        support(fields.getInt(112) == Payload.PIECE, "piece length");
        long own = Integer.toUnsignedLong(fields.getInt(116));
        long used = FIXED + own + Integer.toUnsignedLong(fields.getInt(120));
        long first = (used + 7) / 8 * 8;
        insist(first + 8L * count == end, "header length");
        insist(isZero(head, (int) used, (int) first), "padding");
        seed = fields.getLong(32);
        bits = fields.getLong(48);
        payloadAt = fields.getLong(96);
        payloadLength = fields.getLong(104);
        insist(payloadAt == (length + PAGE - 1) / PAGE * PAGE, "payload offset");
        insist(payloadLength >= 0 && payloadLength <= size, "payload length");
        insist(size - payloadLength == payloadAt + 8 * pieces() + 8, "payload length");
        int metadata = FIXED + (int) own;
        domains = isDomains(fields, entries(fields.slice(metadata, (int) used - metadata).order(fields.order())));
        exceptions = new long[count];
        for (int i = 0; i < count; i++) {
            exceptions[i] = fields.getLong((int) first + 8 * i) ^ Long.MIN_VALUE;
            insist(i == 0 || exceptions[i - 1] < exceptions[i], "exceptions: not in ascending order");
        }
        kind = Kinds.of(fields, fields.slice(FIXED, (int) own).order(fields.order()), payloadLength);
    }

    /** The checksums of the payload's pieces. They are read by the MiB, so a size that is not true costs no memory. */
    ByteBuffer readSums(ReadAt file) throws IOException {
        long at = payloadAt + payloadLength;
        long left = 8 * pieces();
        insist(left <= Payload.LARGEST_ARRAY, "payload length");
        ByteArrayOutputStream sums = new ByteArrayOutputStream();
        while (left > 0) {
            byte[] some = Payload.read(file, at, (int) Math.min(left, Payload.PIECE));
            sums.write(some);
            at += some.length;
            left -= some.length;
        }
        long last = Payload.littleEndian(Payload.read(file, at, 8)).getLong(0);
        insist(Xxh3.hash(sums.toByteArray(), sum) == last, "trailer checksum");
        return Payload.littleEndian(sums.toByteArray());
    }

    /** Piece i of the payload, compared with its checksum. */
    byte[] readPiece(ReadAt file, long i, ByteBuffer sums) throws IOException {
        long at = i * Payload.PIECE;
        byte[] piece = Payload.read(file, payloadAt + at, (int) Math.min(Payload.PIECE, payloadLength - at));
        insist(Xxh3.hash(piece, i) == sums.getLong((int) (8 * i)), "payload checksum: piece " + i);
        return piece;
    }

    void checkLastByte(ByteBuffer payload) throws IOException {
        int used = (int) (bits & 7);
        insist(used == 0 || (payload.get(payload.capacity() - 1) & 0xff) >> used == 0, "bits are set after the last one");
    }

    private long pieces() {
        return payloadLength / Payload.PIECE + (payloadLength % Payload.PIECE == 0 ? 0 : 1);
    }

    /** Refuses files in which a text is not the key, unless it is a domain name. */
    private static boolean isDomains(ByteBuffer fields, Map<String, String> entries) throws IOException {
        int rule = fields.getInt(80);
        int field = fields.getInt(84);
        int delimiter = fields.get(88);
        String recipe = entries.get("recipe");
        support(rule >= 0 && rule <= 8, "key rule");
        insist(rule != 8 || field == 0 && delimiter == 0 && recipe != null, "key rule");
        insist((rule & 6) != 6 && (delimiter == 0 || field != 0), "key rule");
        if (rule == 8 && recipe.equals("domain")) {
            return true;
        }
        support(recipe == null || rule == 0 && recipe.equals("line"), "recipe \"" + recipe + "\"");
        support(rule == 0 && field == 0 && !entries.containsKey("key.column"),
                "recipe: a field, a column, trimming or letter case");
        return false;
    }

    private static Map<String, String> entries(ByteBuffer metadata) throws IOException {
        Map<String, String> entries = new HashMap<>();
        int total = 0;
        while (metadata.hasRemaining()) {
            insist(metadata.remaining() >= 6, "metadata: an entry is cut off");
            int name = metadata.getShort() & 0xffff;
            long value = Integer.toUnsignedLong(metadata.getInt());
            insist(name + value <= metadata.remaining(), "metadata: an entry is cut off");
            byte[] text = new byte[name + (int) value];
            metadata.get(text);
            total += text.length;
            String all = new String(text, StandardCharsets.ISO_8859_1);
            insist(name > 0 && name <= 255 && all.indexOf(0) < 0, "metadata");
            insist(entries.size() < ENTRIES_MAX && total <= METADATA_MAX, "metadata");
            insist(entries.put(all.substring(0, name), all.substring(name)) == null, "metadata");
        }
        return entries;
    }

    private static boolean isZero(byte[] bytes, int from, int to) {
        for (int i = from; i < to; i++) {
            if (bytes[i] != 0) {
                return false;
            }
        }
        return true;
    }

    static void insist(boolean right, String what) throws CorruptFilterException {
        if (!right) {
            throw new CorruptFilterException(what);
        }
    }

    static void support(boolean right, String what) throws UnsupportedFilterException {
        if (!right) {
            throw new UnsupportedFilterException(what);
        }
    }
}
