// SPDX-License-Identifier: MIT

package umbel;

import static umbel.Header.insist;
import static umbel.Header.support;

import java.io.IOException;
import java.nio.ByteBuffer;

/** The kinds, checked so that no lookup leaves the payload. */
final class Kinds {
    static final long GOLDEN = 0x9e3779b97f4a7c15L;
    static final long PRINT = 0xa0761d6478bd642fL;
    private static final long LOW = 0xffffffffL;

    private static final String[] NAMES =
        {"blocked", "classic", "static", "counting", "scalable", "window", "tight", "line", "exact"};

    private static final int[] SALTS =
        {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};

    private static final int[] LINE_SALTS = {
        0xe220a839, 0x6e789e6b, 0x06c45d19, 0xf88bb8a9, 0x1b39896b, 0x53cb9f0d, 0x2c829abf, 0xc584133b,
        0x3ee57891, 0xf3b8488d, 0x657eecdd, 0xc2d326e1, 0x8621a03f, 0x8e1f7555, 0xb54e0f17, 0x84bb3f97,
    };

    private Kinds() {}

    static Kind of(ByteBuffer head, ByteBuffer own, long payloadLength) throws IOException {
        int kind = head.getInt(16);
        int scheme = head.getInt(20);
        int hash = head.getInt(24);
        int hashes = head.getInt(28);
        long bits = head.getLong(48);
        String name = kind > 0 && kind <= NAMES.length ? NAMES[kind - 1] : Integer.toUnsignedString(kind);
        support(kind > 0 && kind <= NAMES.length && (kind < 4 || kind > 6), "kind " + name);
        support(hash != 2, "a keyed filter");
        support(scheme == 1 && hash == 1, "scheme " + Integer.toUnsignedString(scheme) + " with hash "
                + Integer.toUnsignedString(hash));
        support(own.capacity() == 0 || kind == 3 || kind == 7 || kind == 9, "parameters of kind " + name);
        long length = (bits >>> 3) + ((bits & 7) == 0 ? 0 : 1);
        insist(length == payloadLength && ((bits & 7) == 0 || kind == 2), "bits and payload length disagree");
        switch (kind) {
            case 1:
                insist(hashes == 8 && bits % 256 == 0 && bits > 0 && bits / 256 <= LOW, "blocked: hashes or bits");
                return new Blocked(bits / 256);
            case 2:
                insist(hashes > 0 && hashes <= 1024 && bits > 0, "classic: hashes or bits");
                return new Classic(bits, hashes);
            case 8:
                insist(hashes == 4 || hashes == 8 || hashes == 16, "line: hashes");
                insist(bits % 512 == 0 && bits > 0 && bits / 512 <= LOW, "line: bits");
                return new Line(bits / 512, hashes);
            case 3:
                return StaticKind.of(own, hashes, payloadLength);
            case 7:
                return Ribbon.alone(own, hashes, payloadLength);
            default:
                return ExactKind.of(own, hashes, payloadLength);
        }
    }

    /** The upper half of the product of two unsigned numbers. */
    static long upperHalf(long a, long b) {
        return Math.multiplyHigh(a, b) + ((a >> 63) & b) + ((b >> 63) & a);
    }

    /** The mixing of static, tight and exact filters. */
    static long scramble(long x) {
        x = (x ^ x >>> 32) * 0xd6e8feb86659fd93L;
        x = (x ^ x >>> 32) * 0xd6e8feb86659fd93L;
        return x ^ x >>> 32;
    }

    private record Blocked(long blocks) implements Kind {
        @Override
        public String name() {
            return "blocked";
        }

        @Override
        public boolean has(Payload payload, byte[] key, long seed) throws IOException {
            long hash = Xxh3.hash(key, seed);
            long at = ((hash >>> 32) * blocks >>> 32) * 32;
            ByteBuffer block = payload.bytes(at, 32);
            int from = payload.index(at);
            int missing = 0; // no branches: half of them would be guessed wrong
            for (int i = 0; i < 8; i++) {
                missing |= ~block.getInt(from + 4 * i) >>> ((int) hash * SALTS[i] >>> 27);
            }
            return (missing & 1) == 0;
        }
    }

    private record Line(long lines, int probes) implements Kind {
        @Override
        public String name() {
            return "line";
        }

        @Override
        public boolean has(Payload payload, byte[] key, long seed) throws IOException {
            long hash = Xxh3.hash(key, seed);
            long at = ((hash >>> 32) * lines >>> 32) * 64;
            ByteBuffer line = payload.bytes(at, 64);
            int from = payload.index(at);
            int lane = 512 / probes;
            for (int i = 0; i < probes; i++) {
                int bit = lane * i + (int) (((int) hash * LINE_SALTS[i] & LOW) * lane >>> 32);
                if ((line.get(from + bit / 8) >>> (bit & 7) & 1) == 0) {
                    return false;
                }
            }
            return true;
        }
    }

    private record Classic(long bits, int probes) implements Kind {
        @Override
        public String name() {
            return "classic";
        }

        @Override
        public boolean has(Payload payload, byte[] key, long seed) throws IOException {
            Xxh3.Wide hash = Xxh3.wide(key, seed);
            long x = hash.low();
            for (int i = 0; i < probes; i++) {
                long bit = upperHalf(x, bits);
                byte b = payload.bytes(bit >>> 3, 1).get(payload.index(bit >>> 3));
                if ((b >>> (bit & 7) & 1) == 0) {
                    return false;
                }
                x = x * GOLDEN + (hash.high() | 1);
            }
            return true;
        }
    }

    /** A static filter without keys. */
    record Empty() implements Kind {
        @Override
        public String name() {
            return "static";
        }

        @Override
        public boolean has(Payload payload, byte[] key, long seed) {
            return false;
        }
    }
}
