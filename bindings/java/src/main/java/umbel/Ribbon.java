// SPDX-License-Identifier: MIT

package umbel;

import static umbel.Header.insist;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Levels of equations over neighbouring slots. A tight filter is one, and an exact one is two. */
final class Ribbon implements Kind {
    private static final long[][] THRESHOLDS = {{0, 24, 48, 192}, {0, 48, 96, 640}};

    private final int width;
    /** Blocks of a shard of the first level that have a bit more. */
    private final long wide;
    private final int window;
    private final int bucket;
    private final long[] thresholds;
    private final Level[] levels;
    /** 1: its slots say which keys are members, and the lowest bit of its numbers is 0. */
    private final long verdict;

    /** Marks are thresholds; lengths are those of a shard. */
    private static final class Level {
        private long blocks;
        private int seed;
        private int shardBits;
        private long narrow;
        private long places;
        private long words;
        private long marks;
        private long marksLength;
        private long table;
    }

    private Ribbon(int width, long wide, Level[] levels, boolean verdicts) {
        this.width = width;
        this.wide = wide;
        this.window = levels.length > 1 && (wide > 0 ? width + 1 : width) <= 2 ? 2 : 1;
        this.bucket = window == 1 ? 192 : 640;
        this.thresholds = THRESHOLDS[window - 1];
        this.levels = levels;
        this.verdict = verdicts ? 1 : 0;
    }

    /** That of a tight filter. */
    static Kind alone(ByteBuffer own, int hashes, long payloadLength) throws IOException {
        insist(hashes == 1, "tight: hashes");
        Ribbon ribbon = of(own, false);
        insist(ribbon.placeTables(ribbon.placeMarks(0)) == payloadLength, "tight: levels and payload length disagree");
        return ribbon;
    }

    /** Reads the parameters of a ribbon. Without any it has no levels. */
    static Ribbon of(ByteBuffer own, boolean verdicts) throws IOException {
        List<Level> levels = new ArrayList<>();
        if (!own.hasRemaining()) {
            return new Ribbon(0, 0, new Level[0], verdicts);
        }
        int width = next(own);
        long wide = number(own, 5);
        boolean more;
        do {
            insist(levels.size() < 8, "levels: more than 8");
            Level level = new Level();
            level.blocks = number(own, 5);
            level.seed = next(own);
            more = own.hasRemaining();
            level.shardBits = more ? next(own) : 0;
            insist(level.shardBits <= 24, "levels: shards");
            levels.add(level);
        } while (more);
        insist(wide < levels.get(0).blocks && (wide > 0 ? width + 1 : width) <= 32, "levels: width");
        Ribbon ribbon = new Ribbon(width, wide, levels.toArray(new Level[0]), verdicts);
        ribbon.sizeLevels();
        return ribbon;
    }

    static int next(ByteBuffer own) throws IOException {
        insist(own.hasRemaining(), "parameters: cut off");
        return own.get() & 0xff;
    }

    /** Seven bits per byte, lower ones first, in the shortest form and at most this many bytes. */
    static long number(ByteBuffer own, int most) throws IOException {
        long number = 0;
        for (int i = 0; i < most; i++) {
            int b = next(own);
            number |= (b & 127L) << 7 * i;
            if (b < 128) {
                insist((b != 0 || i == 0) && (b < 2 || i < 9), "parameters: a number is not in its shortest form");
                return number;
            }
        }
        throw new CorruptFilterException("parameters: a number is too long");
    }

    private void sizeLevels() throws IOException {
        long first = levels[0].blocks;
        for (Level level : levels) {
            insist(level.blocks >= window && level.blocks <= 1 << 24, "levels: blocks");
            level.narrow = level.blocks - (wide * level.blocks + first - 1) / first;
            level.places = 64 * (level.blocks - window) + 1;
            level.words = level.blocks * (width + 1) - level.narrow;
        }
        insist(levels.length > 1 || levels[0].words > 0, "levels: no slots");
    }

    /** Says that the thresholds begin here, and returns where they end. */
    long placeMarks(long at) {
        for (int i = 0; i < levels.length - 1; i++) {
            Level level = levels[i];
            level.marks = at;
            level.marksLength = (level.places + 4L * bucket - 1) / (4L * bucket);
            at += level.marksLength << level.shardBits;
        }
        return (at + 7) / 8 * 8;
    }

    /** Does so for the slots. */
    long placeTables(long at) {
        for (Level level : levels) {
            level.table = at;
            at += 8 * level.words << level.shardBits;
        }
        return at;
    }

    boolean isEmpty() {
        return levels.length == 0;
    }

    /** Whether each slot is one bit. */
    boolean isOneBit() {
        return width == 1 && wide == 0;
    }

    @Override
    public String name() {
        return "tight";
    }

    @Override
    public boolean has(Payload payload, byte[] key, long seed) throws IOException {
        return agrees(payload, Xxh3.hash(key, seed));
    }

    /** Looks a hash up: in a ribbon of fingerprints, whether it has the key's; in one of verdicts, whether it says yes. */
    boolean agrees(Payload payload, long x) throws IOException {
        for (int i = 0; i < levels.length; i++) {
            Level level = levels[i];
            x &= ~verdict;
            long shard = level.shardBits == 0 ? 0 : x >>> 64 - level.shardBits;
            long y = (x << level.shardBits) * (1 + level.seed * (Kinds.GOLDEN + 1)) + shard & ~verdict;
            long place = Kinds.upperHalf(y, level.places);
            x = Kinds.scramble(y);
            if (i == levels.length - 1) {
                return agreesAt(level, payload, shard, place, x);
            }
            long at = level.marks + shard * level.marksLength + place / bucket / 4;
            int codes = payload.bytes(at, 1).get(payload.index(at));
            int code = codes >> place / bucket % 4 * 2 & 3;
            if (place % bucket >= thresholds[code]) {
                return agreesAt(level, payload, shard, place, x);
            }
        }
        return false; // without levels there are no keys
    }

    private boolean agreesAt(Level level, Payload payload, long shard, long place, long x) throws IOException {
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
        long print = verdict != 0 ? 1 : x * Kinds.PRINT >>> 32;
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
