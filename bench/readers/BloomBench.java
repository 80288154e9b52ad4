// SPDX-License-Identifier: MIT

import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnels;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.function.Predicate;
import umbel.BloomFile;

/**
 * {@code BloomBench ROUNDS FILTER} looks up a million keys in each round and prints how many were found;
 * {@code guava} is Guava's filter of a million keys at 1%.
 */
final class BloomBench {
    private BloomBench() {}

    private static byte[] key(int i) {
        return ("key" + i).getBytes(StandardCharsets.US_ASCII);
    }

    private static Predicate<byte[]> filter(String name) throws IOException {
        if (!name.equals("guava")) {
            return BloomFile.open(Path.of(name))::mightContain;
        }
        BloomFilter<byte[]> guava = BloomFilter.create(Funnels.byteArrayFunnel(), 1_000_000, 0.01);
        for (int i = 0; i < 1_000_000; i++) {
            guava.put(key(i));
        }
        return guava::mightContain;
    }

    private static int round(byte[][] keys, Predicate<byte[]> filter) {
        int found = 0;
        for (byte[] key : keys) {
            found += filter.test(key) ? 1 : 0;
        }
        return found;
    }

    public static void main(String[] arguments) throws IOException {
        byte[][] keys = new byte[1 << 20][];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = key(2 * i);
        }
        Predicate<byte[]> filter = filter(arguments[1]);
        long found = 0;
        for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
            found += round(keys, filter);
        }
        System.out.println(found);
    }
}
