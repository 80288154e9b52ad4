// SPDX-License-Identifier: MIT

package umbel;

import static umbel.Header.insist;

import java.io.IOException;
import java.nio.ByteBuffer;

/** A fingerprint of the key is the XOR of three or four slots. */
record StaticKind(int hashes, int shardBits, int segmentBits, long segments, int width, long wide, long tables,
                  long wideLength, long narrowLength) implements Kind {

    static Kind of(ByteBuffer own, int hashes, long payloadLength) throws IOException {
        insist(own.capacity() == 24 && (hashes == 3 || hashes == 4), "static: hashes or parameters");
        long[] field = new long[6];
        for (int i = 0; i < field.length; i++) {
            field[i] = Integer.toUnsignedLong(own.getInt(4 * i));
        }
        long shards = field[0];
        long segmentBits = field[1];
        long segments = field[2];
        long width = field[3];
        long wide = field[4];
        insist(width > 0 && width <= (wide > 0 ? 31 : 32) && field[5] == 0, "static: width");
        if (shards == 0) {
            insist(segmentBits + segments + wide + payloadLength == 0, "static: segments without shards");
            return new Kinds.Empty();
        }
        insist(Long.bitCount(shards) == 1 && shards <= 1 << 24 && wide < shards, "static: shards");
        insist(segmentBits <= 18 && segments > 0, "static: segments");
        long slots = (segments + hashes - 1) << segmentBits;
        insist((segments + hashes) << segmentBits <= 0xffffffffL, "static: 2^32 slots");
        StaticKind layout = new StaticKind(hashes, Long.numberOfTrailingZeros(shards), (int) segmentBits, segments,
                (int) width, wide, (shards + 7) / 8 * 8, (slots * (width + 1) + 7) / 8, (slots * width + 7) / 8);
        insist(layout.table(shards) == payloadLength, "static: tables and payload length disagree");
        return layout;
    }

    @Override
    public String name() {
        return "static";
    }

    /** Where the table of a shard begins. */
    private long table(long shard) {
        long before = Math.min(shard, wide);
        return tables + before * wideLength + (shard - before) * narrowLength;
    }

    @Override
    public boolean has(Payload payload, byte[] key, long seed) throws IOException {
        long hash = Xxh3.hash(key, seed);
        long shard = shardBits == 0 ? 0 : hash >>> 64 - shardBits;
        int own = payload.bytes(shard, 1).get(payload.index(shard)) & 0xff;
        long x = Kinds.scramble(hash + own * Kinds.GOLDEN);
        int bits = shard < wide ? width + 1 : width;
        long table = table(shard);
        long first = Kinds.upperHalf(hash << shardBits, segments << segmentBits);
        long found = x * Kinds.PRINT >>> 32;
        for (int i = 0; i < hashes; i++) {
            long within = i == 0 ? 0 : x >>> 21 * (i - 1) & (1L << segmentBits) - 1;
            long bit = (first + ((long) i << segmentBits) ^ within) * bits;
            int offset = (int) (bit & 7);
            found ^= number(payload, table + (bit >>> 3), (offset + bits + 7) / 8) >>> offset;
        }
        return (found & (1L << bits) - 1) == 0;
    }

    private static long number(Payload payload, long at, int length) throws IOException {
        ByteBuffer bytes = payload.bytes(at, length);
        int from = payload.index(at);
        long number = 0;
        for (int i = length - 1; i >= 0; i--) {
            number = number << 8 | bytes.get(from + i) & 0xff;
        }
        return number;
    }
}
