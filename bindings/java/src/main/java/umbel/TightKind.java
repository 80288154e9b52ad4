// SPDX-License-Identifier: MIT

package umbel;

import static umbel.Header.insist;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Equations over neighbouring slots, in levels. */
final class TightKind implements Kind {
    private static final long[][] THRESHOLDS = {{0, 24, 48, 192}, {0, 48, 96, 640}};

    private final int width;
    private final int window;
    private final int bucket;
    private final long[] thresholds;
    private final Level[] levels;

    /** Marks are thresholds; lengths are those of a shard. */
    private record Level(int shardBits, long blocks, long narrow, int seed, long places, long marks, long marksLength,
                         long table, long words) {}

    private TightKind(int width, int window, Level[] levels) {
        this.width = width;
        this.window = window;
        this.bucket = window == 1 ? 192 : 640;
        this.thresholds = THRESHOLDS[window - 1];
        this.levels = levels;
    }

    static Kind of(ByteBuffer own, int hashes, long payloadLength) throws IOException {
        insist(hashes == 1, "tight: hashes");
        if (own.capacity() == 0 && payloadLength == 0) {
            return new Kinds.Empty("tight");
        }
        int width = next(own);
        long wide = number(own);
        List<long[]> fields = new ArrayList<>(); // blocks, seed, shards
        boolean more;
        do {
            insist(fields.size() < 8, "tight: levels");
            long blocks = number(own);
            int seed = next(own);
            more = own.hasRemaining();
            int shardBits = more ? next(own) : 0;
            insist(shardBits <= 24, "tight: shards");
            fields.add(new long[] {blocks, seed, shardBits});
        } while (more);
        int widest = wide > 0 ? width + 1 : width;
        insist(wide < fields.get(0)[0] && widest <= 32, "tight: width");
        int window = fields.size() > 1 && widest <= 2 ? 2 : 1;
        TightKind layout = new TightKind(width, window, new Level[fields.size()]);
        insist(layout.layOut(fields, wide) == payloadLength, "tight: levels and payload length disagree");
        return layout;
    }

    private static int next(ByteBuffer own) throws IOException {
        insist(own.hasRemaining(), "tight: parameters");
        return own.get() & 0xff;
    }

    /** Seven bits per byte, lower ones first, in the shortest form. */
    private static long number(ByteBuffer own) throws IOException {
        long number = 0;
        for (int shift = 0; shift < 35; shift += 7) {
            int b = next(own);
            number |= (b & 127L) << shift;
            if (b < 128) {
                insist(b != 0 || shift == 0, "tight: a number is not in its shortest form");
                return number;
            }
        }
        throw new CorruptFilterException("tight: a number is too long");
    }

    /** Says where the thresholds and slots of the levels are, and how many bytes they have in all. */
    private long layOut(List<long[]> fields, long wide) throws IOException {
        long[] marks = new long[levels.length];
        long at = 0;
        for (int i = 0; i < levels.length; i++) {
            long blocks = fields.get(i)[0];
            insist(blocks >= window && blocks <= 1 << 24, "tight: blocks");
            marks[i] = at;
            at += i < levels.length - 1 ? marksLength(blocks) << fields.get(i)[2] : 0;
        }
        at = (at + 7) / 8 * 8;
        long first = fields.get(0)[0];
        for (int i = 0; i < levels.length; i++) {
            long blocks = fields.get(i)[0];
            int shardBits = (int) fields.get(i)[2];
            long narrow = blocks - (wide * blocks + first - 1) / first;
            long words = blocks * (width + 1) - narrow;
            levels[i] = new Level(shardBits, blocks, narrow, (int) fields.get(i)[1], places(blocks), marks[i],
                    marksLength(blocks), at, words);
            at += 8 * words << shardBits;
        }
        insist(at > 0, "tight: no slots");
        return at;
    }

    private long places(long blocks) {
        return 64 * (blocks - window) + 1;
    }

    private long marksLength(long blocks) {
        return (places(blocks) + 4L * bucket - 1) / (4L * bucket);
    }

    @Override
    public String name() {
        return "tight";
    }

    @Override
    public boolean has(Payload payload, byte[] key, long seed) throws IOException {
        long x = Xxh3.hash(key, seed);
        for (int i = 0;; i++) {
            Level level = levels[i];
            long shard = level.shardBits == 0 ? 0 : x >>> 64 - level.shardBits;
            long y = (x << level.shardBits) * (1 + level.seed * (Kinds.GOLDEN + 1)) + shard;
            long place = Kinds.upperHalf(y, level.places);
            x = Kinds.scramble(y);
            if (i == levels.length - 1) {
                return isIn(level, payload, shard, place, x);
            }
            long at = level.marks + shard * level.marksLength + place / bucket / 4;
            int codes = payload.bytes(at, 1).get(payload.index(at));
            int code = codes >> place / bucket % 4 * 2 & 3;
            if (place % bucket >= thresholds[code]) {
                return isIn(level, payload, shard, place, x);
            }
        }
    }

    private boolean isIn(Level level, Payload payload, long shard, long place, long x) throws IOException {
        long block = place >>> 6;
        int offset = (int) place & 63;
        int count = offset > 0 ? window + 1 : window;
        long from = begin(level, block);
        long at = level.table + 8 * (shard * level.words + from);
        ByteBuffer slots = payload.bytes(at, (int) (8 * (begin(level, block + count) - from)));
        int index = payload.index(at);
        long high = window == 2 ? Kinds.upperHalf(x, Kinds.GOLDEN) ^ x * Kinds.GOLDEN : 0;
        long low = x | 1;
        long row0 = low << offset;
        long row1 = offset == 0 ? high : high << offset | low >>> 64 - offset;
        long row2 = offset == 0 ? 0 : high >>> 64 - offset;
        int second = index + (int) (8 * (begin(level, block + 1) - from));
        int third = count > 2 ? index + (int) (8 * (begin(level, block + 2) - from)) : 0;
        long print = x * Kinds.PRINT >>> 32;
        for (int word = index; word < second; print >>>= 1, word += 8) {
            int next = word - index;
            long sum = slots.getLong(word) & row0;
            if (count > 1) {
                sum ^= slots.getLong(second + next) & row1;
            }
            if (count > 2) {
                sum ^= slots.getLong(third + next) & row2;
            }
            if (((Long.bitCount(sum) ^ print) & 1) != 0) {
                return false;
            }
        }
        return true;
    }

    /** The first word of a block. */
    private long begin(Level level, long block) {
        return block * width + Math.max(0, block - level.narrow);
    }
}
