// SPDX-License-Identifier: MIT

package umbel;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.HexFormat;

/** XXH3 of xxHash 0.8 under a seed: {@link #hash} has 64 bits, {@link #wide} 128. */
final class Xxh3 {
    private static final long PRIME32_1 = 0x9e3779b1L;
    private static final long PRIME32_2 = 0x85ebca77L;
    private static final long PRIME32_3 = 0xc2b2ae3dL;
    private static final long PRIME64_1 = 0x9e3779b185ebca87L;
    private static final long PRIME64_2 = 0xc2b2ae3d27d4eb4fL;
    private static final long PRIME64_3 = 0x165667b19e3779f9L;
    private static final long PRIME64_4 = 0x85ebca77c2b2ae63L;
    private static final long PRIME64_5 = 0x27d4eb2f165667c5L;
    private static final long MIX1 = 0x165667919e3779f9L;
    private static final long MIX2 = 0x9fb21c651e98df25L;
    private static final long LOW = 0xffffffffL;
    private static final int STRIPE = 64;

    /** The default secret of XXH3. */
    private static final byte[] SECRET = HexFormat.of().parseHex("b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240"
            + "a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b"
            + "1b532ea371644897a20df94e3819ef46a9deacd8a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d978"
            + "7364eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce"
            + "45cb3a8f95160428afd7fbcabb4b407e");

    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    /** 128 bits. */
    record Wide(long low, long high) {}

    private Xxh3() {}

    private static int le32(byte[] b, int at) {
        return (int) INT.get(b, at);
    }

    private static long le64(byte[] b, int at) {
        return (long) LONG.get(b, at);
    }

    private static long fold(long a, long b) {
        return a * b ^ Kinds.upperHalf(a, b);
    }

    private static long shift(long h, int by) {
        return h ^ h >>> by;
    }

    private static long finish(long h) {
        return shift(shift(h, 37) * MIX1, 32);
    }

    private static long finish64(long h) {
        return shift(shift(shift(h, 33) * PRIME64_2, 29) * PRIME64_3, 32);
    }

    private static long twoSecrets(int at) {
        return le64(SECRET, at) ^ le64(SECRET, at + 8);
    }

    private static long tinySecret(int at) {
        return (le32(SECRET, at) ^ le32(SECRET, at + 4)) & LOW;
    }

    private static int tiny(byte[] b, int from, int n) {
        return (b[from] & 0xff) << 16 | (b[from + (n >> 1)] & 0xff) << 24 | b[from + n - 1] & 0xff | n << 8;
    }

    private static long swapSeed(long seed) {
        return seed ^ (long) Integer.reverseBytes((int) seed) << 32;
    }

    private static long mix16(byte[] b, int at, int s, long seed) {
        return fold(le64(b, at) ^ le64(SECRET, s) + seed, le64(b, at + 8) ^ le64(SECRET, s + 8) - seed);
    }

    static long hash(byte[] b, long seed) {
        return hash(b, 0, b.length, seed);
    }

    static long hash(byte[] b, int from, int n, long seed) {
        if (n <= 16) {
            return brief(b, from, n, seed);
        }
        long acc = n * PRIME64_1;
        if (n <= 128) {
            for (int i = 0; i <= (n - 1) / 32; i++) {
                acc += mix16(b, from + 16 * i, 32 * i, seed) + mix16(b, from + n - 16 * i - 16, 32 * i + 16, seed);
            }
            return finish(acc);
        }
        if (n <= 240) {
            for (int i = 0; i < 8; i++) {
                acc += mix16(b, from + 16 * i, 16 * i, seed);
            }
            acc = finish(acc);
            for (int i = 8; i < n / 16; i++) {
                acc += mix16(b, from + 16 * i, 16 * i - 125, seed);
            }
            return finish(acc + mix16(b, from + n - 16, 119, seed));
        }
        byte[] own = seededSecret(seed);
        return merge(accumulate(b, from, n, own), own, 11, acc);
    }

    private static long brief(byte[] b, int from, int n, long seed) {
        if (n > 8) {
            long low = le64(b, from) ^ twoSecrets(24) + seed;
            long high = le64(b, from + n - 8) ^ twoSecrets(40) - seed;
            return finish(n + Long.reverseBytes(low) + high + fold(low, high));
        }
        if (n > 3) {
            long h = (le32(b, from + n - 4) & LOW) + ((long) le32(b, from) << 32) ^ twoSecrets(8) - swapSeed(seed);
            h = (h ^ Long.rotateLeft(h, 49) ^ Long.rotateLeft(h, 24)) * MIX2;
            return shift((h ^ (h >>> 35) + n) * MIX2, 28);
        }
        return finish64(n == 0 ? seed ^ twoSecrets(56) : tiny(b, from, n) & LOW ^ tinySecret(0) + seed);
    }

    private static byte[] seededSecret(long seed) {
        byte[] own = new byte[SECRET.length];
        for (int i = 0; i < own.length; i += 16) {
            LONG.set(own, i, le64(SECRET, i) + seed);
            LONG.set(own, i + 8, le64(SECRET, i + 8) - seed);
        }
        return own;
    }

    /**
     * Sums up more than 240 bytes. The sums are variables, not an array: OpenJDK 17.0.15 compiles loops that store
     * to one so that they are wrong once in a while.
     */
    private static long[] accumulate(byte[] b, int from, int n, byte[] own) {
        long a0 = PRIME32_3;
        long a1 = PRIME64_1;
        long a2 = PRIME64_2;
        long a3 = PRIME64_3;
        long a4 = PRIME64_4;
        long a5 = PRIME32_2;
        long a6 = PRIME64_5;
        long a7 = PRIME32_1;
        int stripes = (n - 1) / STRIPE;
        for (int i = 0; i <= stripes; i++) {
            int at = i < stripes ? from + STRIPE * i : from + n - STRIPE;
            int s = i < stripes ? 8 * (i & 15) : 121;
            long d0 = le64(b, at);
            long d1 = le64(b, at + 8);
            long d2 = le64(b, at + 16);
            long d3 = le64(b, at + 24);
            long d4 = le64(b, at + 32);
            long d5 = le64(b, at + 40);
            long d6 = le64(b, at + 48);
            long d7 = le64(b, at + 56);
            a0 += d1 + product(d0 ^ le64(own, s));
            a1 += d0 + product(d1 ^ le64(own, s + 8));
            a2 += d3 + product(d2 ^ le64(own, s + 16));
            a3 += d2 + product(d3 ^ le64(own, s + 24));
            a4 += d5 + product(d4 ^ le64(own, s + 32));
            a5 += d4 + product(d5 ^ le64(own, s + 40));
            a6 += d7 + product(d6 ^ le64(own, s + 48));
            a7 += d6 + product(d7 ^ le64(own, s + 56));
            if (i < stripes && (i & 15) == 15) {
                a0 = (shift(a0, 47) ^ le64(own, 128)) * PRIME32_1;
                a1 = (shift(a1, 47) ^ le64(own, 136)) * PRIME32_1;
                a2 = (shift(a2, 47) ^ le64(own, 144)) * PRIME32_1;
                a3 = (shift(a3, 47) ^ le64(own, 152)) * PRIME32_1;
                a4 = (shift(a4, 47) ^ le64(own, 160)) * PRIME32_1;
                a5 = (shift(a5, 47) ^ le64(own, 168)) * PRIME32_1;
                a6 = (shift(a6, 47) ^ le64(own, 176)) * PRIME32_1;
                a7 = (shift(a7, 47) ^ le64(own, 184)) * PRIME32_1;
            }
        }
        return new long[] {a0, a1, a2, a3, a4, a5, a6, a7};
    }

    /** Of the halves of a number. */
    private static long product(long keyed) {
        return (keyed & LOW) * (keyed >>> 32);
    }

    private static long merge(long[] acc, byte[] own, int s, long start) {
        for (int i = 0; i < 8; i += 2) {
            start += fold(acc[i] ^ le64(own, s + 8 * i), acc[i + 1] ^ le64(own, s + 8 * i + 8));
        }
        return finish(start);
    }

    static Wide wide(byte[] b, long seed) {
        int n = b.length;
        if (n <= 16) {
            return briefWide(b, seed);
        }
        long[] acc = {n * PRIME64_1, 0};
        if (n > 240) {
            byte[] own = seededSecret(seed);
            long[] sums = accumulate(b, 0, n, own);
            return new Wide(merge(sums, own, 11, acc[0]), merge(sums, own, 117, ~(n * PRIME64_2)));
        }
        if (n <= 128) {
            for (int i = (n - 1) / 32; i >= 0; i--) {
                mix32(acc, b, 16 * i, n - 16 * i - 16, 32 * i, seed);
            }
        } else {
            for (int i = 0; i < 4; i++) {
                mix32(acc, b, 32 * i, 32 * i + 16, 32 * i, seed);
            }
            acc[0] = finish(acc[0]);
            acc[1] = finish(acc[1]);
            for (int i = 4; i < n / 32; i++) {
                mix32(acc, b, 32 * i, 32 * i + 16, 32 * i - 125, seed);
            }
            mix32(acc, b, n - 16, n - 32, 103, -seed);
        }
        long high = acc[0] * PRIME64_1 + acc[1] * PRIME64_4 + (n - seed) * PRIME64_2;
        return new Wide(finish(acc[0] + acc[1]), -finish(high));
    }

    private static void mix32(long[] acc, byte[] b, int i, int j, int s, long seed) {
        acc[0] = acc[0] + mix16(b, i, s, seed) ^ le64(b, j) + le64(b, j + 8);
        acc[1] = acc[1] + mix16(b, j, s + 16, seed) ^ le64(b, i) + le64(b, i + 8);
    }

    private static Wide briefWide(byte[] b, long seed) {
        int n = b.length;
        if (n > 8) {
            long upper = le64(b, n - 8);
            long word = le64(b, 0) ^ upper ^ twoSecrets(32) - seed;
            long low = word * PRIME64_1 + ((n - 1L) << 54);
            upper ^= twoSecrets(48) + seed;
            long high = Kinds.upperHalf(word, PRIME64_1) + upper + (upper & LOW) * (PRIME32_2 - 1);
            low ^= Long.reverseBytes(high);
            return new Wide(finish(low * PRIME64_2), finish(Kinds.upperHalf(low, PRIME64_2) + high * PRIME64_2));
        }
        if (n > 3) {
            long word = (le32(b, 0) & LOW) + ((long) le32(b, n - 4) << 32) ^ twoSecrets(16) + swapSeed(seed);
            long factor = PRIME64_1 + (n << 2);
            long low = word * factor;
            long high = Kinds.upperHalf(word, factor) + (low << 1);
            return new Wide(shift(shift(low ^ high >>> 3, 35) * MIX2, 28), finish(high));
        }
        if (n > 0) {
            long word = Integer.rotateLeft(Integer.reverseBytes(tiny(b, 0, n)), 13) & LOW;
            return new Wide(brief(b, 0, n, seed), finish64(word ^ tinySecret(8) - seed));
        }
        return new Wide(finish64(seed ^ twoSecrets(64)), finish64(seed ^ twoSecrets(80)));
    }
}
